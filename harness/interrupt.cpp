#include "harness/interrupt.hpp"

#include <unistd.h>

#include <ctime>

namespace parity {
namespace {
constexpr int kExitInterrupted = 130;
constexpr long kPollNanoseconds = 100'000'000;
}  // namespace

Interrupt::Interrupt() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

Interrupt::~Interrupt() {
  watcher_.request_stop();
  watcher_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interrupt::watch(const std::stop_token& stop) {
  const timespec pause{0, kPollNanoseconds};
  while (!stop.stop_requested()) {
    if (sigtimedwait(&signals_, nullptr, &pause) <= 0) continue;
    // Workers die with this process, so leaving at once loses only what was not yet written.
    if (requested_.exchange(true)) _exit(kExitInterrupted);
  }
}

}  // namespace parity
