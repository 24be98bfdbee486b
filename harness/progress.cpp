#include "harness/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace parity {
namespace {

/// Whoever keeps this process's stderr in a file may still show its progress.
int progress_descriptor() {
  const char* const value = std::getenv("PARITY_PROGRESS");
  const std::string_view text = value == nullptr ? "" : value;
  int number = STDERR_FILENO;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

using Clock = std::chrono::steady_clock;

Progress::Progress()
    : descriptor_(progress_descriptor()),
      terminal_(isatty(descriptor_) != 0),
      start_(Clock::now()) {}

Progress::~Progress() {
  finish();
}

void Progress::finish() {
  if (dirty_) dprintf(descriptor_, "\r\033[K");
  dirty_ = false;
}

void Progress::phase(std::string name) {
  phase_ = std::move(name);
  has_end_ = true;
  runs_ = 0;
  start_ = Clock::now();
  draw(phase_, true);
}

void Progress::update(std::size_t done, std::size_t planned, std::size_t diverging) {
  draw_share(done, planned, fmt::format("  {} diverging so far", diverging));
}

void Progress::update(std::size_t done, std::size_t planned) {
  draw_share(done, planned, "");
}

void Progress::draw_share(std::size_t done, std::size_t planned, const std::string& more) {
  if (runs_++ == 0 || done <= done_before_) done_before_ = done - 1;
  if (!has_end_) return draw_trials(false);
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done - done_before_) / seconds : 0;
  const double left = rate > 0 ? static_cast<double>(planned - done) / rate : 0;
  draw(fmt::format("{} {}/{}  {:.0f}/s  {:.0f} s left{}", phase_, done, planned, rate, left, more),
       done == planned);
}

void Progress::note(const std::string& text) {
  phase_ = text;
  has_end_ = false;
  draw_trials(true);
}

void Progress::draw_trials(bool force) {
  draw(fmt::format("{} runs tried, {} finding(s) so far: {}", runs_, findings_, phase_), force);
}

void Progress::draw(const std::string& text, bool force) {
  constexpr auto kBetween = std::chrono::milliseconds(100);
  if (!terminal_ || (!force && Clock::now() - drawn_ < kBetween)) return;
  // A line that wraps cannot be drawn over.
  winsize size{};
  const bool known = ioctl(descriptor_, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  const std::size_t columns = known ? size.ws_col - 1u : text.size();
  dprintf(descriptor_, "\r\033[K%s", text.substr(0, columns).c_str());
  drawn_ = Clock::now();
  dirty_ = true;
}

}  // namespace parity
