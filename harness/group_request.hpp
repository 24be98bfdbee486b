// One group of a sequence asked of a worker, and what came of it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/outcome.hpp"
#include "harness/worker_process.hpp"

namespace parity {

struct GroupLimits {
  std::chrono::milliseconds run;   ///< one run; a group of them has the sum, times the patience
  std::chrono::milliseconds step;  ///< any other step
};

/// The outcome of a request without an answer. interrupted: not_run.
Outcome unanswered(const Reply& reply, std::chrono::milliseconds limit);

/// Enters the outcomes of the group's steps, and a snapshot, into `result`. `ids`: by case index.
/// In a group of several, each has crashed or timed out when the process ends, and its detail says
/// with how many.
void request_group(WorkerProcess& worker, const Sequence& sequence, const StepGroup& group,
                   const std::vector<std::string>& ids, const GroupLimits& limits,
                   SequenceResult& result);

}  // namespace parity
