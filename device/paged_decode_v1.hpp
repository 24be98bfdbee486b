// Paged decode attention, version 1: one pass per (row, head group), no workspace.
#pragma once

#include <cstdint>
#include <string>

#include "device/paged_decode_args.hpp"
#include "device/runtime.hpp"

namespace parity {

/// Key of the module that these arguments need. Throws UsageError as paged_decode_v1 does.
VariantSpec paged_decode_v1_variant(Dtype q, Dtype k, Dtype v, std::int64_t head_dim,
                                    std::int64_t group_size);

/// Starts the kernel (asynchronously on a GPU). Throws UsageError naming the argument that is not
/// supported or malformed; nothing is launched then. Returns the resolved plan: "v1 bucket=4
/// threads=128". Formula and edge rule: softmax(scale·q·k)·v per head over the row's tokens;
/// nothing attended: out 0, lse −inf.
std::string paged_decode_v1(Runtime& runtime, const PagedDecodeArgs& args);

}  // namespace parity
