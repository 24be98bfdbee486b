// Paged decode attention by definition, in double, on inputs upcast exactly from their dtype.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "datasets/tensor.hpp"

namespace parity {

/// A K or V pool inside a tensor. Strides and offset count elements; the D elements of one (page,
/// slot, head) lie side by side.
struct PagedPool {
  const Tensor& tensor;
  std::int64_t pages = 0;
  std::int64_t stride_page = 0;
  std::int64_t stride_slot = 0;
  std::int64_t stride_head = 0;
  std::int64_t offset = 0;

  /// All of a tensor [num_pages, slots, Hkv, D]. Throws UsageError for another rank.
  static PagedPool contiguous(const Tensor& pages);

  /// Index of element 0 of a (page, slot, head).
  std::int64_t at(std::int64_t page, std::int64_t slot, std::int64_t head) const {
    return offset + page * stride_page + slot * stride_slot + head * stride_head;
  }
};

struct PagedDecodeProblem {
  const Tensor& q;  ///< [B, Hq, D]
  PagedPool k;
  PagedPool v;
  const Tensor& page_indptr;        ///< i32 [B+1]
  const Tensor& page_indices;       ///< i32 [nnz]
  const Tensor& last_page_len;      ///< i32 [B]
  const Tensor& first_page_offset;  ///< i32 [B]
  std::int64_t page_size = 0;
  std::int64_t kv_heads = 0;
  double scale = 1.0;
  double k_scale = 1.0;
  double v_scale = 1.0;
  double softcap = 0.0;     ///< 0: off
  std::int64_t window = 0;  ///< only the last so many tokens of a row are attended; 0: all
  /// Attended tokens at the end of every row that are left out: the wrong answer "last token
  /// dropped".
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

/// x = k_scale·scale·(q·k), with softcap x = softcap·tanh(k_scale·scale·(q·k) / softcap); s =
/// log2(e)·x; lse = log2 Σ 2^s; out = v_scale · Σ 2^(s − lse)·v. Throws UsageError naming the
/// tensor or field whose type, shape or content is malformed.
PagedDecodeReference paged_decode(const PagedDecodeProblem& problem);

}  // namespace parity
