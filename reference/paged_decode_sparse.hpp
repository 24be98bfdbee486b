// Paged decode attention over selected slots by definition: dense attention restricted to them.
#pragma once

#include <cstdint>

#include "reference/paged_decode.hpp"

namespace parity {

struct PagedDecodeSparseProblem {
  const Tensor& q;  ///< [B, Hq, D]
  PagedPool k;      ///< pages of one slot
  PagedPool v;
  const Tensor& page_indptr;   ///< i32 [B·Hkv+1]: list r·Hkv + h is that of row r, kv head h
  const Tensor& page_indices;  ///< i32 [nnz]: slots
  std::int64_t kv_heads = 0;
  double scale = 1.0;
  double k_scale = 1.0;
  double v_scale = 1.0;
  double softcap = 0.0;  ///< 0: off
  /// Slots at the end of every list that are left out: the wrong answer "last slot dropped".
  std::int64_t drop_last = 0;
};

/// Formula as paged_decode's, over the slots of a list; `tokens` is the length of each row's
/// longest list. Throws UsageError naming the tensor or field whose type, shape or content is
/// malformed, also for a slot that one list names twice.
PagedDecodeReference paged_decode_sparse(const PagedDecodeSparseProblem& problem);

}  // namespace parity
