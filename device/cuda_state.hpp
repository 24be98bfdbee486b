// What the CUDA runtime keeps for a host thread from call to call: ambient carriers.
#pragma once

#include <memory>
#include <vector>

#include "device/carrier.hpp"

namespace parity {

/// "cuda_device" (cell "device": its number) and "cuda_last_error" (cell "error": its name; looking
/// does not clear it, restoring does where the error is not sticky; it cannot be set).
std::vector<std::unique_ptr<Carrier>> make_cuda_state();

}  // namespace parity
