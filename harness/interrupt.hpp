// Ctrl-C: the first asks the run to stop and keep what it has, the second ends it at once.
#pragma once

#include <atomic>
#include <csignal>
#include <thread>

namespace parity {

/// While alive, SIGINT and SIGTERM set a flag instead of ending the process. Make it before any
/// other thread starts: threads inherit the blocked signals.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>& requested() const { return requested_; }

 private:
  void watch(const std::stop_token& stop);

  sigset_t signals_{};
  sigset_t before_{};
  std::atomic<bool> requested_{false};
  std::jthread watcher_;
};

}  // namespace parity
