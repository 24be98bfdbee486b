// Sampling under top-k, top-p and min-p by definition: the integers of the contract, one row after
// another.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/tensor.hpp"

namespace parity {

struct RejectionSampleProblem {
  const Tensor& probs;       ///< [B, V], f32, f16 or bf16
  const Tensor& draw;        ///< as probs: what a kept token is drawn by; may be probs itself
  const Tensor& top_k;       ///< i32 [B]; off where <= 0 or >= V
  const Tensor& top_p;       ///< [B], floating; off where >= 1 or NaN
  const Tensor& min_p;       ///< [B], floating; off where <= 0 or NaN
  const Tensor& seed;        ///< u64 [B]
  const Tensor& step;        ///< u64 [B]
  bool top_k_first = false;  ///< top_p is a share of what top_k keeps, not of the row
};

struct RejectionSampleReference {
  std::vector<std::int64_t> token;   ///< [B]: -1 where not ok
  std::vector<std::int64_t> ok;      ///< [B]: 1 or 0
  std::vector<std::int64_t> rounds;  ///< [B]: candidates drawn
};

/// Formula: device/rejection_sample.hpp. Throws UsageError naming the tensor whose type or shape is
/// malformed.
RejectionSampleReference rejection_sample(const RejectionSampleProblem& problem);

/// floor(value·2^(43-e)), e = floor(log2 max), of 0 <= value <= max; 0 where max is 0. Exact.
std::uint64_t rejection_weight(double value, double max);

}  // namespace parity
