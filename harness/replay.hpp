// A given sequence against its last case alone, each N times in fresh processes: how often does the
// last case diverge in either?
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/case.hpp"
#include "harness/finding.hpp"
#include "harness/judge.hpp"
#include "harness/orders.hpp"
#include "harness/outcome.hpp"

namespace parity {

struct Replay {
  std::vector<Sequence> sequences;  ///< the sequence `repeat` times, then the case alone
  std::vector<SequenceResult> results;
  Rate in_sequence;  ///< divergences of the last case after the others
  Rate alone;  ///< and in a fresh process; equal to in_sequence where the sequence is one case
  std::optional<Finding> finding;
};

/// `order` holds indices into `cases` and is not empty. `suffix` is appended to the replay
/// commands.
Replay replay(std::span<const Case> cases, const Order& order, std::size_t repeat, Judge& judge,
              Executor& executor, const std::string& program, const std::string& suffix);

}  // namespace parity
