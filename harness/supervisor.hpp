// Runs sequences in fresh worker processes, several at a time; whatever a kernel does ends a
// worker, never the run.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/journal.hpp"
#include "harness/outcome.hpp"
#include "harness/protocol.hpp"

namespace parity {

struct SupervisorOptions {
  std::string command;  ///< worker command line
  Hello hello;
  std::vector<std::string> ids;      ///< case index -> id
  std::filesystem::path run_folder;  ///< logs; made where missing
  std::size_t jobs = 1;
  std::size_t compile_jobs = 1;
  std::size_t threads = 1;                   ///< host threads of a worker: Executor::threads()
  std::chrono::milliseconds deadline{5000};  ///< one run
  std::chrono::milliseconds prepare_limit{120000};  ///< hello, and one prepare
  std::chrono::steady_clock::time_point stop_at = std::chrono::steady_clock::time_point::max();
  /// Ctrl-C: running sequences end after their step, which has another second.
  const std::atomic<bool>* interrupted = nullptr;
  /// Answers what it holds, as if it had run just now, and takes what ended by itself.
  Journal* journal = nullptr;
  /// Whether what the journal holds of a sequence is no longer all there, so that it runs again.
  std::function<bool(const Sequence&, const SequenceResult&)> lost = nullptr;
  /// Called under a lock after each run that the journal did not answer: done and planned of this
  /// execute(), and what came of it.
  std::function<void(std::size_t done, std::size_t planned, std::size_t case_index, const Outcome&)>
      progress;
};

class Supervisor final : public Executor {
 public:
  /// Starts nothing yet.
  explicit Supervisor(SupervisorOptions options);
  ~Supervisor() override;

  /// Says hello to a worker and says what it is. Throws DeviceError when no worker can be had, or
  /// when it ends badly after bye.
  const HelloReply& identity();
  /// Compiles what every case needs, in as many workers as compile_jobs. A case that cannot be
  /// compiled is not an error here: running it says so. Prepared modules are on disk, in no
  /// process. Returns what the workers warn of, each line once, in the order of the cases.
  std::vector<std::string> prepare(std::span<const std::size_t> cases);
  std::vector<ModuleDescription> describe(std::size_t case_index);

  /// Groups of more than one run are asked for `together`, within the sum of their deadlines. Where the process
  /// ends in a group, nobody knows which case did it: each of them has crashed or timed out, and
  /// its detail says with how many.
  std::vector<SequenceResult> execute(std::span<const Sequence> sequences) override;
  const CarrierAbilities& abilities() override;
  std::size_t threads() const override;
  bool stopped() const override;

  /// From execute() calls so far, steps of kind run that were answered, and processes started for
  /// them.
  std::size_t executions() const;
  std::size_t process_starts() const;
  /// The worker that ended badly after bye (by a signal or with an exit status that is not 0), its
  /// status and its log, in one line; the first in plan order, empty when none did. No case is to
  /// blame, so the run is.
  std::string bad_end() const;
  /// What workers answered to bye where it was not done: what they were to keep is lost. One line
  /// each, none twice.
  std::vector<std::string> complaints() const;
  /// Lifts the stop time: shrinking and confirming run after the budget's end. What was in time
  /// once, and has lost its outputs, runs again after it too.
  void set_stop_at(std::chrono::steady_clock::time_point stop_at);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs the orders. A crash or time-out in mid-sequence voids its tail, which is queued again in a
/// fresh process, opening with the case that ended the process (so that it is seen alone) and
/// without those that crash or time out alone (quarantined). Every tail is shorter than what it is
/// the tail of, so this ends. Returns all sequences run and their results in plan order, requeued
/// tails last; `quarantined` in index order. The poison phase of a sequence is its index mod 2.
/// With several host threads, each case first runs alone, and those that crash or time out there
/// are left out of the orders; a crash in a group voids what comes after the group only.
struct OrdersRun {
  std::vector<Sequence> sequences;
  std::vector<SequenceResult> results;
  std::vector<std::size_t> quarantined;
};
OrdersRun run_orders(std::span<const std::vector<std::size_t>> orders, Executor& executor);

}  // namespace parity
