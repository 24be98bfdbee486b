// A given sequence against its last case alone, in fresh processes: how often does the last case
// diverge in either, and does the order decide?
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
  std::vector<Sequence> sequences;  ///< the given one and the case alone, in turn
  std::vector<SequenceResult> results;
  Rate in_sequence;  ///< divergences of the last case after the others
  Rate alone;  ///< and in a fresh process; equal to in_sequence where the sequence is one case
  std::optional<Finding> finding;
};

/// `order` holds indices into `cases` and is not empty. Each runs `repeat` times; where that does
/// not tell order from chance, it goes on as a run does when it confirms a finding, so that both
/// come to one verdict. One run of each is enough for a wrong answer, but not for what a starved
/// machine may show. Where the process of several at the same time ends, the others of that group
/// run alone as often: one that ends processes by itself is the finding, and of the last case
/// nobody knows what it would have done. `suffix` is appended to the replay commands.
Replay replay(std::span<const Case> cases, const Order& order, std::size_t repeat, Judge& judge,
              Executor& executor, const std::string& program, const std::string& suffix);

}  // namespace parity
