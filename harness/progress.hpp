// What a person sees during long work, on a terminal only: done of total, rate, time left,
// findings.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace parity {

class Progress {
 public:
  /// Draws on stderr where that is a terminal, else stays silent.
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void phase(std::string name);
  void update(std::size_t done, std::size_t planned, std::size_t diverging);
  /// One line of what is being tried, instead of counts.
  void note(const std::string& text);
  /// Clears the line, so that what is printed next starts clean.
  void finish();

 private:
  void draw(const std::string& text, bool force);

  bool terminal_;
  std::string phase_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_{};
  bool dirty_ = false;
};

}  // namespace parity
