// Launches as a CUDA graph.
#pragma once

#include <memory>
#include <vector>

#include "device/backend.hpp"

namespace parity {

/// The launches, each after the one before it; functions[i] is the cudaKernel_t of launches[i]. It
/// keeps their modules; replays go into the default stream. Throws DeviceError.
std::unique_ptr<Graph> make_cuda_graph(std::vector<PreparedLaunch> launches,
                                       const std::vector<const void*>& functions);

}  // namespace parity
