// Reading a buffer once and doing nothing with it: the ceiling that kernels bound by memory are
// measured against. No operation of its own, so no case and no reference; the fold is checked.
#pragma once

#include <cstdint>

#include "device/device_tensor.hpp"
#include "device/runtime.hpp"

namespace parity {

struct ReadStreamArgs {
  DeviceTensor input;  ///< u8 [bytes]: a multiple of 16, aligned to 16
  DeviceTensor sums;   ///< i32 [blocks]; together they xor to the xor of all 32-bit words of input
  /// Blocks of the grid; more than the input has 2048-byte pieces do nothing.
  std::int64_t blocks = 0;
};

/// Starts the kernel (asynchronously on a GPU). Throws UsageError naming the argument that is
/// malformed; nothing is launched then.
void read_stream(Runtime& runtime, const ReadStreamArgs& args);

}  // namespace parity
