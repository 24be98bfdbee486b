// Paged decode attention by definition, in double, on inputs upcast exactly from their dtype.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/tensor.hpp"

namespace parity {

struct PagedDecodeProblem {
  const Tensor& q;                  ///< [B, Hq, D]
  const Tensor& k_pages;            ///< [num_pages, page_size, Hkv, D]
  const Tensor& v_pages;            ///< likewise
  const Tensor& page_indptr;        ///< i32 [B+1]
  const Tensor& page_indices;       ///< i32 [nnz]
  const Tensor& last_page_len;      ///< i32 [B]
  const Tensor& first_page_offset;  ///< i32 [B]
  double scale = 1.0;
  /// Tokens at the end of every row that are left out: the wrong answer "last token dropped".
  std::int64_t drop_last = 0;
};

struct PagedDecodeReference {
  Tensor out;        ///< f64 [B, Hq, D]; nothing attended: 0; a NaN or +inf score: NaN
  Tensor lse;        ///< f64 [B, Hq], base 2; nothing attended: -inf
  Tensor abs_mass;   ///< f64 [B, Hq, D]: Σ p·|v|
  Tensor rms_mass;   ///< f64 [B, Hq, D]: √Σ p²·v²
  Tensor max_score;  ///< f64 [B, Hq]: max |s| over attended tokens, base 2 (0 where nothing is
                     ///< attended)
  std::vector<std::int64_t> tokens;  ///< attended per row [B]
};

/// Throws UsageError naming the tensor whose type, shape or content is malformed.
PagedDecodeReference paged_decode(const PagedDecodeProblem& problem);

}  // namespace parity
