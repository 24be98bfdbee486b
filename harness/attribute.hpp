// Names the leaked state and proves it causally: restoring it must heal the victim, setting it must
// harm.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "harness/finding.hpp"
#include "harness/orders.hpp"
#include "harness/outcome.hpp"

namespace parity {

struct Attribution {
  std::string carrier;  ///< empty when unnamed
  std::string cell;     ///< empty when the victim died before its probe could answer
  std::string built_for;
  std::string used_for;
  Grade grade = Grade::unnamed;
};

/// Repeats of a causal test, so that an answer of this rate is not missed but once in a hundred; at
/// most eight.
std::size_t causal_repeats(const Rate& rate);

/// `history` + victim is minimal and fails; `victim_outcome` is one such failure. `is_baseline`
/// says whether a victim's outcome is the one it has alone. necessary: [history, restore carrier,
/// victim] is the baseline. sufficient: [set carrier as the history left it, victim] is not.
/// confirmed = both. correlated: the victim read a cell that the history wrote, and no ability of
/// the worker refutes it. A carrier whose restoring does not heal is not named. Each test must give
/// the same answer `repeats` times. Carriers no probe saw are tried too where the worker can
/// restore them, unless the history leaves no trace in their snapshot. Strong suspects come first:
/// cells used for something else than they were built for, then those read, then what no probe saw;
/// among equals as the worker gave them. Once one is confirmed, no weaker one is tried. The tests
/// run one case after the other: with several host threads, a victim that is well in that is shown
/// wrong by nothing but company, and correlated is the most that is said.
Attribution attribute(const Order& history, std::size_t victim, const Outcome& victim_outcome,
                      Executor& executor, const std::function<bool(const Outcome&)>& is_baseline,
                      std::size_t repeats = 1);

}  // namespace parity
