// What a worker saw: outcomes, and the sequences that made them. No judgement here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "datasets/digest.hpp"

namespace parity {

/// How one step of a sequence ended. `error`: the worker answered that it could not (compile
/// failure, refused launch); `crashed`, `timed_out`: it did not answer; `not_run`: an earlier step
/// ended the process, or the run was stopped.
enum class Status : std::uint8_t { ok, unsupported, error, crashed, timed_out, not_run };

struct OutputDigest {
  std::string name;
  Digest digest;
  bool operator==(const OutputDigest&) const = default;
};

/// As a probe reports it (harness/PROTOCOL.md, `cells`).
struct CellSeen {
  std::string carrier;
  std::string cell;
  bool wrote = false;
  std::string built_for;
  std::string used_for;
  std::string writer;  ///< case id of the run that made the entry
  bool operator==(const CellSeen&) const = default;
};

struct Outcome {
  Status status = Status::not_run;
  std::string detail;       ///< reason, signal, or log line; empty for ok
  std::string plan;         ///< resolved plan; bits are compared at equal plan
  bool timed_plan = false;  ///< timing chose it: it may differ from run to run
  std::vector<OutputDigest> outputs;
  std::int64_t unwritten = 0;
  std::vector<std::string> broken_guards;
  std::vector<std::string> changed_inputs;
  std::vector<CellSeen> cells;
  double milliseconds = 0;  ///< never enters a result
};

/// Where several ran at the same time, any of them may have done it.
bool ends_process(const Outcome& outcome);

/// One carrier as a worker handed it out; opaque to the parent (JSON text), given back by `set`.
struct CarrierState {
  std::string carrier;
  std::string state;
};

struct Step {
  enum class Kind : std::uint8_t { run, restore, set, snapshot };
  Kind kind = Kind::run;
  std::size_t case_index = 0;  ///< run
  std::string carrier;         ///< restore, set, snapshot
  std::string state;           ///< set

  static Step run(std::size_t index) { return {Kind::run, index, {}, {}}; }
  static Step restore(std::string carrier) { return {Kind::restore, 0, std::move(carrier), {}}; }
  static Step set(std::string carrier, std::string state) {
    return {Kind::set, 0, std::move(carrier), std::move(state)};
  }
  static Step snapshot(std::string carrier) { return {Kind::snapshot, 0, std::move(carrier), {}}; }
};

/// Patience with the side that is accused of being late, against the limit that the other side keeps
/// (the runs of its largest group): being a little slower than a limit is nobody's leak.
constexpr std::size_t kTwiceTheLimit = 2;

/// Steps [begin, end) of a sequence that run at the same time.
struct StepGroup {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

struct Sequence {
  std::vector<Step> steps;
  /// Poison of position i is (i + poison_phase) mod 2: 0 the first pattern, 1 the second.
  unsigned poison_phase = 0;
  /// Host threads of the worker.
  std::size_t threads = 1;
  /// Times the limit that its runs otherwise have.
  std::size_t patience = 1;

  static Sequence of(std::span<const std::size_t> order, unsigned poison_phase = 0,
                     std::size_t threads = 1);

  /// All steps in order. Consecutive runs are cut into groups of `threads` from their end, so that
  /// the last case always has company: the first group may be smaller. Other steps stand alone.
  std::vector<StepGroup> groups() const;
  /// The last step, then those at the same time that run the same case: what any of them shows,
  /// that case shows. Requires a step.
  std::vector<std::size_t> last_copies() const;
  /// The other cases that run at the same time as the last, each once, by index. Requires a step.
  std::vector<std::size_t> company() const;
};

struct SequenceResult {
  std::vector<Outcome> outcomes;  ///< one per step; restore, set and snapshot give ok or error
  std::vector<CarrierState> snapshots;  ///< one per snapshot step, in order
  /// Steps that ended with a worker's answer or death, counted from the front.
  std::size_t completed() const;
  /// Not stopped on its way: every step, or all up to one that ended the process.
  bool whole() const;
};

/// What the worker says it can do with carriers (hello).
struct CarrierAbilities {
  std::vector<std::string> probe;
  std::vector<std::string> restore;
  std::vector<std::string> set;
  std::vector<std::string> not_probed;
};

/// Runs sequences, each in a fresh process. The supervisor is the real one; tests simulate leaks.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Results stand in the order of `sequences`, whatever order they ended in. Sequences not started
  /// before a stop (budget, interrupt) come back with every outcome not_run.
  virtual std::vector<SequenceResult> execute(std::span<const Sequence> sequences) = 0;
  virtual const CarrierAbilities& abilities() = 0;
  /// Host threads that sequences are to be made for.
  virtual std::size_t threads() const { return 1; }
  /// Ctrl-C: nothing is run any more.
  virtual bool stopped() const { return false; }
};

}  // namespace parity
