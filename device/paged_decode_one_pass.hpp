// The launch of a paged decode kernel that needs no workspace and no merge.
#pragma once

#include <string>

#include "device/paged_decode_blocks.hpp"
#include "device/runtime.hpp"

namespace parity {

/// Starts `kernel`, whose params are PagedDecodeParams, with one block for each row, kv head and
/// chunk of query heads. `args` have been checked. Throws UsageError beyond a grid of 2^31 - 1
/// blocks, and for what its module does not support. Returns "bucket=4 threads=128".
std::string launch_one_pass(Runtime& runtime, const std::string& kernel,
                            const PagedDecodeArgs& args);

}  // namespace parity
