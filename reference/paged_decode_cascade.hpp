// Prefixes and suffixes as one flat page table: what a cascade must equal.
#pragma once

#include <cstdint>

#include "datasets/tensor.hpp"

namespace parity {

/// All i32.
struct CascadeTable {
  const Tensor& group_indptr;       ///< [G+1]: group g is rows group_indptr[g] to [g+1] − 1
  const Tensor& prefix_indptr;      ///< [G+1]
  const Tensor& prefix_indices;     ///< whole pages
  const Tensor& page_indptr;        ///< [B+1]: of the suffixes, like what follows
  const Tensor& page_indices;       ///< [nnz]
  const Tensor& last_page_len;      ///< [B]
  const Tensor& first_page_offset;  ///< [B]: 0 behind a prefix
};

/// All i32, as PagedDecodeProblem has them.
struct FlatPageTable {
  Tensor page_indptr, page_indices, last_page_len, first_page_offset;
};

/// Each row's pages are its group's prefix, then its suffix. Throws UsageError naming the tensor
/// whose type, shape or content is malformed.
FlatPageTable flatten(const CascadeTable& table, std::int64_t page_size);

}  // namespace parity
