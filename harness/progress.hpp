// What a person sees during long work, on a terminal only: done of total, rate, time left,
// findings.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace parity {

class Progress {
 public:
  /// Draws on stderr, or on the descriptor whose number PARITY_PROGRESS gives, where that is a
  /// terminal; else stays silent.
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void phase(std::string name);
  void update(std::size_t done, std::size_t planned, std::size_t diverging);
  /// Where nothing can diverge.
  void update(std::size_t done, std::size_t planned);
  /// What is being tried, instead of a phase with an end: update() then counts the runs.
  void note(const std::string& text);
  void found(std::size_t findings) { findings_ = findings; }
  /// Clears the line, so that what is printed next starts clean.
  void finish();

 private:
  void draw(const std::string& text, bool force);
  void draw_trials(bool force);
  void draw_share(std::size_t done, std::size_t planned, const std::string& more);

  int descriptor_;
  bool terminal_;
  std::string phase_;
  bool has_end_ = true;
  std::size_t done_before_ = 0;  ///< the journal's share
  std::size_t runs_ = 0;         ///< since the phase began
  std::size_t findings_ = 0;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_{};
  bool dirty_ = false;
};

}  // namespace parity
