// A run's stages: the plan, then pairs that the probes make suspect, then random orders while the
// budget lasts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "harness/case.hpp"
#include "harness/ledger.hpp"
#include "harness/plan.hpp"
#include "harness/supervisor.hpp"

namespace parity {

struct ScheduleOptions {
  Permute permute = Permute::none;
  std::uint64_t seed = 0;
  /// The budget goes on. Unset: there is none, and the run ends with what was planned.
  std::function<bool()> lasts;
};

struct ScheduleRun {
  OrdersRun run;
  Ledger ledger;
  bool whole = false;  ///< plan and suspect pairs ran to their end; random orders have none
  std::size_t random_batches = 0;  ///< of random orders that were begun as the budget lasted
  bool out_of_time = false;        ///< a longer budget would have begun another
};

/// Runs the plan's orders; then, one host thread only, the pairs of suspect_pairs() not yet
/// adjacent, each in a fresh process; then, where the budget lasts, seeded random orders within the
/// plan's groups, at most 2^18 runs of them. Cases that crash or time out alone are left out of the
/// later stages.
ScheduleRun run_schedule(std::span<const Case> cases, const Plan& plan,
                         const ScheduleOptions& options, Executor& executor);

using Pair = std::pair<std::size_t, std::size_t>;

/// Of `pairs` (a, b), those where the probes saw b use a cell that a wrote too: first those that
/// use it for something else than a does, nearest first, which no typed key allows; then, with
/// `all`, the others, in the order of `pairs`.
std::vector<Pair> suspect_pairs(const std::vector<Pair>& pairs, std::span<const Case> cases,
                                std::span<const Sequence> sequences,
                                std::span<const SequenceResult> results, bool all);

}  // namespace parity
