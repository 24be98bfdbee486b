// Paged decode attention over selected slots: every (row, kv head) has a list of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/paged_decode_blocks.hpp"
#include "device/runtime.hpp"

namespace parity {

/// Validates dtypes, shapes, strides and alignment, without reading device memory. `args` as in
/// paged_decode_sparse. Throws UsageError naming the argument.
void check_paged_decode_sparse_args(const PagedDecodeArgs& args);

/// The lists in host memory, arrays as in args.table.
struct HostSelection {
  std::vector<std::int32_t> indptr, indices;
};

/// Validates every entry. `args` has passed check_paged_decode_sparse_args. Throws UsageError
/// naming the array, the row and the kv head: also for a slot that one list names twice.
void check_selection(const HostSelection& selection, const PagedDecodeArgs& args);

/// Key of the module that these arguments need. Throws UsageError as paged_decode_sparse does.
VariantSpec paged_decode_sparse_variant(const PagedDecodeChoice& choice);

/// Starts the kernel (asynchronously on a GPU). Of `args`, page_size is 1 and window 0 (what is
/// selected has no order), and the pools are [slots, 1, Hkv, D]. args.table.indptr is i32
/// [B·Hkv+1], indices i32 [nnz]: kv head h of row r attends to the slots indices[i], i from
/// indptr[r·Hkv+h] to indptr[r·Hkv+h+1] − 1, none of them twice; last_page_len and
/// first_page_offset are left empty. args.checked reads the lists back and validates them. Throws
/// UsageError naming the argument that is not supported or malformed; nothing is launched then.
/// Returns the resolved plan: "sparse bucket=4 threads=128". Formula and edge rule as
/// paged_decode_v1, over the selected slots.
std::string paged_decode_sparse(Runtime& runtime, const PagedDecodeArgs& args);

}  // namespace parity
