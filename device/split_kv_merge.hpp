// Merging the partial results of attention over parts of a row's tokens.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "device/device_tensor.hpp"
#include "device/runtime.hpp"

namespace parity {

struct SplitKvMergeArgs {
  DeviceTensor v;         ///< [N, H, D]: f32, f16 or bf16; normalised partial outputs
  DeviceTensor lse;       ///< [N, H] f32, base 2
  DeviceTensor o_indptr;  ///< [M+1] i32: partials of row m are o_indptr[m] to o_indptr[m+1] - 1
  DeviceTensor out;       ///< [M, H, D]: f32, f16 or bf16
  DeviceTensor lse_out;   ///< [M, H] f32, base 2
  bool checked = false;   ///< also reads o_indptr back and validates it
};

/// Key of the module that these arguments need. Throws UsageError naming the argument that is not
/// supported.
VariantSpec split_kv_merge_variant(Dtype v, Dtype out, std::int64_t head_dim);

/// Starts the kernel (asynchronously on a GPU). Throws UsageError naming the argument that is not
/// supported or malformed; nothing is launched then. Returns the resolved plan: "merge
/// threads=128". Formula: with m = max lse and w = exp2(lse − m), out = Σ w·v / Σ w and lse_out = m
/// + log2 Σ w. A partial of lse −inf is left out whatever its v; none left: out 0, lse −inf. A NaN
/// or +inf lse makes out and lse of that row and head NaN.
std::string split_kv_merge(Runtime& runtime, const SplitKvMergeArgs& args);

}  // namespace parity
