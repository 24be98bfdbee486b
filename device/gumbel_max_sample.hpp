// Sampling one token a row by the arg max of scaled logits plus Gumbel noise.
#pragma once

#include <cstdint>
#include <string>

#include "device/device_tensor.hpp"
#include "device/runtime.hpp"
#include "device/sampler_splits.hpp"

namespace parity {

struct GumbelMaxSampleArgs {
  DeviceTensor logits;       ///< [B, V]: f32, f16 or bf16; rows need not be aligned
  DeviceTensor temperature;  ///< [B] f32
  DeviceTensor seed;         ///< [B] u64
  DeviceTensor step;         ///< [B] u64
  DeviceTensor token;        ///< [B] i32, written
  DeviceTensor ok;           ///< [B] u8, written: 1, or 0 where token is -1
  /// Blocks that share a row, 1 to 64, or kAutoSamplerSplits. Never changes a token.
  std::int64_t splits = kAutoSamplerSplits;
  /// u8, gumbel_max_workspace_bytes() at least; without memory it comes from the runtime.
  DeviceTensor workspace = {};
};

/// rows·splits·8; 0 where a row is not split.
std::int64_t gumbel_max_workspace_bytes(std::int64_t rows, std::int64_t splits);

/// Key of the module that these arguments need, and of the one that it is followed by where rows
/// are split. Throws UsageError naming the argument that is not supported.
VariantSpec gumbel_max_sample_variant(Dtype logits);
VariantSpec gumbel_max_combine_variant();

/// Starts the kernel (asynchronously on a GPU). Throws UsageError naming the argument that is not
/// supported or malformed; nothing is launched then. Returns the resolved plan: "gumbel splits=4
/// threads=256". Formula: token = arg max over i of logit_i / temperature + g_i in f32, ties to the
/// lowest i; g_i = −ln(−ln(1 − v_i)), v_i = min((word + 0.5)·2⁻³², 1 − 2⁻²⁴), word number i mod 4
/// of Philox-4x32-10 with counter {i/4, 0, step_lo, step_hi} and key {seed_lo, seed_hi}. A
/// temperature below 1e-5 leaves out noise and division. A logit of −inf is never chosen, one of
/// +inf wins. A row that holds a NaN or nothing but −inf, or whose temperature is negative, NaN or
/// infinite: token −1, ok 0.
std::string gumbel_max_sample(Runtime& runtime, const GumbelMaxSampleArgs& args);

}  // namespace parity
