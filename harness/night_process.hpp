// A step of a night while it runs: a process of its own, whose words are kept in the night's
// folder.
#pragma once

#include <functional>
#include <string>

#include "harness/night_folder.hpp"
#include "harness/night_steps.hpp"

namespace parity {

struct StepEnd {
  int exit_code = 0;    ///< of a killed one 128 and the signal's number
  std::string how;      ///< "exit status 2", "signal 9 (Killed)"
  std::string stopped;  ///< why it was asked to stop; empty: it was not
  std::string said;     ///< the line that sums it up, or its last error
};

/// Runs `command` as `step` to its end. Once `why_stopped` says something, it is asked to stop,
/// once. What it wrote to stderr comes after its end. Throws DatasetError, DeviceError.
StepEnd run_step(const NightFolder& folder, const NightStep& step, const std::string& command,
                 const std::function<std::string()>& why_stopped);

}  // namespace parity
