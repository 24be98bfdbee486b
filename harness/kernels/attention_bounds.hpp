// From a reference's answer to what a pack says of an attention output: expected values, bounds,
// and whether the data measures the kernel at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/pack.hpp"
#include "datasets/tensor.hpp"

namespace parity {

/// The answer Σ p·v of each row and head, and what it is made of. All f64.
struct AttentionAnswer {
  const Tensor& out;                         ///< [rows, heads, D]
  const Tensor& lse;                         ///< [rows, heads], base 2
  const Tensor& abs_mass;                    ///< [rows, heads, D]: Σ p·|v|
  const Tensor& rms_mass;                    ///< [rows, heads, D]: √Σ p²·v²
  const Tensor& max_score;                   ///< [rows, heads]: the largest |exponent| of a weight
  const std::vector<std::int64_t>& addends;  ///< per row
};

/// Bound of an element: c·2^-24·Σp|v| with c = 16 + 4·√n + 2·max|score|, n = min(addends, 512):
/// kernels that hold p in f32 and add up at most 512 terms in a row. Where Σp|v| is not finite, any
/// answer that is not finite will do; where lse is NaN, only a NaN.
void expect_out(const AttentionAnswer& answer, PackOutput& out);

/// Bound: that of the rule log_sum_exp.
void expect_log_sum_exp(const AttentionAnswer& answer, PackOutput& lse);

/// Names the first row and head whose terms are so much larger than its result that it measures
/// cancellation; empty where there is none.
std::string cancellation(const AttentionAnswer& answer);

}  // namespace parity
