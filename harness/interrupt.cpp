#include "harness/interrupt.hpp"

#include <unistd.h>

#include <chrono>
#include <ctime>

namespace parity {
namespace {
constexpr int kExitInterrupted = 130;
constexpr std::chrono::milliseconds kOneRequest{500};
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
  std::chrono::steady_clock::time_point first;
  while (!stop.stop_requested()) {
    if (sigtimedwait(&signals_, nullptr, &pause) <= 0) continue;
    // One request may arrive twice: timeout(1) signals its child and then the child's group.
    const auto now = std::chrono::steady_clock::now();
    if (!requested_.exchange(true)) first = now;
    // Workers die with this process, so leaving at once loses only what was not yet written.
    if (now - first > kOneRequest) _exit(kExitInterrupted);
  }
}

}  // namespace parity
