// Names the leaked state and proves it causally (ORDERS.md, Naming the leaked state).
#pragma once

#include <functional>
#include <span>
#include <string>

#include "harness/case.hpp"
#include "harness/finding.hpp"
#include "harness/outcome.hpp"

namespace parity {

struct Attribution {
  std::string carrier;
  std::string cell;
  std::string built_for;
  std::string used_for;
  Grade grade = Grade::unnamed;
};

/// `history` + victim is minimal and fails. `is_baseline` says whether a victim's outcome is the one it
/// has alone. necessary: [history, restore carrier, victim] is the baseline. sufficient: [set carrier as
/// the history left it, victim] diverges. confirmed = both.
Attribution attribute(const Order& history, std::size_t victim, const Outcome& victim_outcome,
                      Executor& executor, const std::function<bool(const Outcome&)>& is_baseline);

}  // namespace parity
