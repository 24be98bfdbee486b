// Does a run show what its plant must show, and nothing else?
#pragma once

#include "harness/finding.hpp"
#include "harness/plants/plants.hpp"
#include "harness/selftest.hpp"

namespace parity {

/// `report` is of a run of the plant's cases. Fills in class, name, found, exact, carrier, grade,
/// rate, what is missing and the worker error.
SelftestRow compared(const Plant& plant, const RunReport& report);

/// A run in which nothing may be accused and every case must pass. Only a finding accuses.
SelftestRow compared_control(std::string_view name, const RunReport& report);

}  // namespace parity
