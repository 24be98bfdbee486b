// Paged decode attention, version 1: one pass per (row, head group), no workspace.
#pragma once

#include <string>

#include "device/paged_decode_blocks.hpp"
#include "device/runtime.hpp"

namespace parity {

/// Key of the module that these arguments need. Throws UsageError as paged_decode_v1 does.
VariantSpec paged_decode_v1_variant(const PagedDecodeChoice& choice);

/// Starts the kernel (asynchronously on a GPU). Throws UsageError naming the argument that is not
/// supported or malformed; nothing is launched then. Returns the resolved plan: "v1 bucket=4
/// threads=128". Formula and edge rule, per head over the row's attended tokens:
/// v_scale · softmax(cap·tanh(k_scale·scale·q·k / cap))·v; nothing attended: out 0, lse −inf.
std::string paged_decode_v1(Runtime& runtime, const PagedDecodeArgs& args);

}  // namespace parity
