// A night: every step in a process of its own, then the reports of all.
#pragma once

#include "harness/night_folder.hpp"
#include "harness/options.hpp"

namespace parity {

/// Runs what has not ended yet of the night in `folder`. Returns the most serious exit code of its
/// steps. Throws DatasetError, DeviceError.
int run_night(const Options& options, NightFolder folder);

}  // namespace parity
