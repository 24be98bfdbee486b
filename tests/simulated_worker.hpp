// A suite of small cases and an Executor that leaks on demand: investigations are tested on it
// without a device, with every execution counted.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/case.hpp"
#include "harness/investigate.hpp"
#include "harness/judge.hpp"
#include "harness/orders.hpp"
#include "harness/outcome.hpp"

namespace parity {

/// What a simulated run does. `drifted`: other bits inside the tolerance.
/// `timed_plan`: another plan, chosen by timing, with other bits.
enum class Answer {
  right,
  drifted,
  wrong,
  unwritten,
  other_plan,
  timed_plan,
  crash,
  hang,
  refused
};

/// A run as a leak sees it.
struct SimulatedRun {
  const Order& before;  ///< what ran in this process
  std::size_t case_index;
  unsigned poison;
  std::size_t execution;  ///< counts all runs of the worker
  Order company;          ///< what runs at the same time
  std::size_t limit = 1;  ///< times the deadline: what it has until a hang is seen
};
using Leak = std::function<Answer(const SimulatedRun&)>;

/// `count` cases of one kernel: the 27 triples of f32, f16, bf16 for q, k, v at d = 64, then at
/// 128, ...
class SimulatedSuite final : public BlobStore {
 public:
  explicit SimulatedSuite(std::size_t count);

  const std::vector<Case>& cases() const { return cases_; }
  const std::string& id(std::size_t index) const { return ids_.at(index); }
  const std::string& dtypes(std::size_t index) const { return dtypes_.at(index); }
  Judge judge() const;

  /// The output [1, 4] that a run with this answer writes; `variant` tells wrong answers apart.
  OutputDigest write(Answer answer, std::size_t variant);
  Tensor read(const TensorType& type, const Digest& digest) const override;

 private:
  std::vector<Case> cases_;
  std::vector<std::string> ids_;
  std::vector<std::string> dtypes_;
  std::map<std::pair<Answer, std::size_t>, OutputDigest> written_;
  std::map<Digest, Tensor> blobs_;
};

/// The cell that a probe sees a run read or write, where the leak lies in one.
using LeakProbe = std::function<std::optional<CellSeen>(const SimulatedRun&)>;

/// Beside the leak, it has a module cache with probes: with `weak_keys` its cells are named by d
/// alone, the first case of a cell builds it, and any other dtypes get wrong answers from it.
class SimulatedWorker final : public Executor {
 public:
  SimulatedWorker(SimulatedSuite& suite, Leak leak);

  bool weak_keys = false;
  bool misuse_crashes = false;        ///< rather than answers wrongly
  bool module_cache_in_leak = false;  ///< restoring the cache also forgets what ran before
  bool probed = true;  ///< false: no run tells of cells; what carriers can do is set in `carriers`
  /// A carrier that holds all the leak knows: restoring it forgets what ran before, and setting it
  /// remembers what had run at the snapshot. Empty: none.
  std::string leak_carrier;
  LeakProbe leak_probe;  ///< none: the leak's cells are not probed
  std::size_t host_threads = 1;
  CarrierAbilities carriers{{"module_cache"}, {"module_cache"}, {"module_cache"}, {"rng"}};

  std::vector<SequenceResult> execute(std::span<const Sequence> sequences) override;
  const CarrierAbilities& abilities() override { return carriers; }
  std::size_t threads() const override { return host_threads; }
  bool stopped() const override { return stopped_; }

  std::size_t executions() const { return executions_; }
  std::size_t sequences() const { return sequences_; }
  void reset_counts() { executions_ = sequences_ = 0; }
  /// From here on, every step comes back not_run.
  void stop() { stopped_ = true; }

 private:
  struct Entry {
    std::size_t builder;
  };
  struct Process {
    Order before;
    std::map<std::string, Entry> modules;
    bool dead = false;
  };
  void run_group(Process& process, const Sequence& sequence, const StepGroup& group,
                 SequenceResult& result);
  Outcome run(Process& process, std::size_t case_index, unsigned poison, const Order& company,
              std::size_t limit);
  Outcome step(Process& process, const Step& step, SequenceResult& result);

  SimulatedSuite& suite_;
  Leak leak_;
  std::size_t executions_ = 0;
  std::size_t sequences_ = 0;
  std::size_t calls_ = 0;
  bool stopped_ = false;
};

/// true in a share `p` of the executions, the same ones every time.
bool by_chance(double p, std::size_t execution, std::uint64_t seed = 1);

/// Tuscan rows over the suite, as a permuted run makes them; the second poison in every other row.
std::vector<Sequence> tuscan_plan(std::size_t cases);

/// Runs the plan, then investigates with 5 confirmations; the worker's counts are those of the
/// investigation alone.
Investigation investigate_plan(const SimulatedSuite& suite, SimulatedWorker& worker,
                               const std::vector<Sequence>& plan);
inline Investigation investigate_tuscan(const SimulatedSuite& suite, SimulatedWorker& worker) {
  return investigate_plan(suite, worker, tuscan_plan(suite.cases().size()));
}

bool has(const Order& order, std::size_t c);

/// `answer` for the victim when `when` holds of what ran before it.
Leak leak(std::size_t victim, Answer answer, std::function<bool(const Order&)> when);

std::vector<std::string> ids(const SimulatedSuite& suite, const Order& order);

/// The only finding of a Tuscan run over 12 cases with this leak; any other number fails the test.
Finding only_finding(Leak leak, SimulatedSuite& suite);

}  // namespace parity
