// Sampling one token a row under top-k, top-p and min-p, by dual-pivot rejection on integer
// weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/device_tensor.hpp"
#include "device/runtime.hpp"
#include "device/sampler_splits.hpp"

namespace parity {

/// Sums of weights must fit in 64 bits.
inline constexpr std::int64_t kMostRejectionVocabulary = std::int64_t{1} << 18;

/// What top_p is a share of.
enum class FilterOrder : std::uint8_t {
  joint,        ///< the whole row
  top_k_first,  ///< what top_k keeps, ties at its end included
};

struct RejectionSampleArgs {
  DeviceTensor
      probs;  ///< [B, V]: f32, f16 or bf16, not negative; need not sum to 1; 1 <= V <= 2^18
  std::optional<DeviceTensor> draw;  ///< as probs: what a kept token is drawn by; nothing: probs
  DeviceTensor top_k;                ///< [B] i32; off where <= 0 or >= V
  DeviceTensor top_p;                ///< [B]: f32, f16 or bf16; off where >= 1 or NaN
  DeviceTensor min_p;                ///< [B] in top_p's dtype; off where <= 0 or NaN
  DeviceTensor seed;                 ///< [B] u64
  DeviceTensor step;                 ///< [B] u64
  DeviceTensor token;                ///< [B] i32, written
  DeviceTensor ok;                   ///< [B] u8, written: 1, or 0 where token is -1
  DeviceTensor rounds;               ///< [B] i32, written: candidates drawn
  FilterOrder order = FilterOrder::joint;
  /// Blocks that share a row, 1 to 64, or kAutoSamplerSplits. Never changes an answer.
  std::int64_t splits = kAutoSamplerSplits;
};

/// 0 where rows are not split; else for each row two states, and for each split two parts and, with
/// top_k_first, two sets of 256 counts of 4 bytes.
std::int64_t rejection_sample_workspace_bytes(std::int64_t rows, std::int64_t splits,
                                              FilterOrder order);

/// Key of the module that these arguments need. Throws UsageError naming the argument that is not
/// supported.
VariantSpec rejection_sample_variant(Dtype probs, Dtype filter, bool draw);

/// Starts the kernel's launches (asynchronously on a GPU). Throws UsageError naming the argument
/// that is not supported or malformed; nothing is launched then. Returns the resolved plan:
/// "rejection splits=4 launches=7 threads=256".
///
/// With w_i = floor(p_i·2^(43-e)), e = floor(log2 max p), and draw weights likewise, a value v is
/// kept where #{p > v} < top_k, the mass of {p > v} is floor(floor(top_p·2^32)·T / 2^32) at most, T
/// as `order` says, and v >= min_p·max p rounded to f32. top_p <= 0 and min_p > 1 keep the largest
/// value alone. low = 0, high = max p; round r: W = draw weights of {p > low}, the candidate is the
/// first token up to which they exceed word·W / 2^64, word = words 0 and 1 of Philox-4x32-10 with
/// counter {r, 1, step_lo, step_hi} and key {seed_lo, seed_hi}. It is the token where its p is
/// kept; else with m = the midpoint of p and high as bit patterns, low = m where m is not kept, or
/// low = p and high = m. A row that is all zero or holds a NaN, an infinity or a negative value, or
/// where W is 0: token -1, ok 0.
std::string rejection_sample(Runtime& runtime, const RejectionSampleArgs& args);

}  // namespace parity
