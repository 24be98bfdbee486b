#include "harness/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace parity {

using Clock = std::chrono::steady_clock;

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0), start_(Clock::now()) {}

Progress::~Progress() {
  finish();
}

void Progress::finish() {
  if (dirty_) std::fputs("\r\033[K", stderr);
  dirty_ = false;
}

void Progress::phase(std::string name) {
  phase_ = std::move(name);
  start_ = Clock::now();
  draw(phase_, true);
}

void Progress::update(std::size_t done, std::size_t planned, std::size_t diverging) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  const double left = rate > 0 ? static_cast<double>(planned - done) / rate : 0;
  draw(fmt::format("{} {}/{}  {:.0f}/s  {:.0f} s left  {} diverging so far", phase_, done, planned,
                   rate, left, diverging),
       done == planned);
}

void Progress::note(const std::string& text) {
  draw(text, false);
}

void Progress::draw(const std::string& text, bool force) {
  constexpr auto kBetween = std::chrono::milliseconds(100);
  if (!terminal_ || (!force && Clock::now() - drawn_ < kBetween)) return;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
  drawn_ = Clock::now();
  dirty_ = true;
}

}  // namespace parity
