// Merging partial attention results by definition, in double, on inputs upcast exactly from their
// dtype.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/tensor.hpp"

namespace parity {

struct SplitKvMergeProblem {
  const Tensor& v;         ///< [N, H, D], floating: normalised partial outputs
  const Tensor& lse;       ///< [N, H], floating, base 2
  const Tensor& o_indptr;  ///< i32 [M+1]: partials of row m are o_indptr[m] to o_indptr[m+1] - 1
};

/// With p = exp2(lse − m) / Σ exp2(lse − m) over the partials of a row and m their largest lse.
struct SplitKvMergeReference {
  Tensor out;       ///< f64 [M, H, D]: Σ p·v; nothing to merge: 0; a NaN or +inf
                    ///< lse: NaN
  Tensor lse;       ///< f64 [M, H]: m + log2 Σ exp2(lse − m); nothing: -inf
  Tensor abs_mass;  ///< f64 [M, H, D]: Σ p·|v|
  Tensor rms_mass;  ///< f64 [M, H, D]: √Σ p²·v²
  Tensor max_lse;   ///< f64 [M, H]: max |lse| over finite ones (0 without any)
  std::vector<std::int64_t> partials;  ///< per row [M], those of lse -inf too
};

/// A partial of lse -inf is left out, whatever its v. Throws UsageError naming the tensor whose
/// type, shape or content is malformed.
SplitKvMergeReference split_kv_merge(const SplitKvMergeProblem& problem);

}  // namespace parity
