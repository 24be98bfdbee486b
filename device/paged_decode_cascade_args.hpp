// Arguments of paged_decode_cascade and their validation.
#pragma once

#include <cstdint>
#include <vector>

#include "device/paged_decode_args.hpp"

namespace parity {

/// Rows in groups whose first tokens are the same. Row r of group g attends to the group's prefix,
/// then to its own suffix.
struct PagedDecodeCascadeArgs {
  /// The page table is that of the suffixes, which may be empty; first_page_offset is 0 where the
  /// row's group has a prefix. window is 0.
  PagedDecodeArgs decode;
  DeviceTensor
      group_indptr;  ///< i32 [G+1]: group g is rows group_indptr[g] to [g+1] − 1; ends at B
  DeviceTensor prefix_indptr;   ///< i32 [G+1]
  DeviceTensor prefix_indices;  ///< i32 [prefix nnz]: whole pages; a group may have none
};

/// Validates dtypes, shapes, strides and alignment, without reading device memory. Throws
/// UsageError naming the argument.
void check_paged_decode_cascade_args(const PagedDecodeCascadeArgs& args);

/// As of PagedDecodeArgs, then the tables of groups.
std::vector<ArgumentMemory> paged_decode_memory(const PagedDecodeCascadeArgs& args);

/// The tables in host memory.
struct HostCascadeTable {
  HostPageTable suffix;
  std::vector<std::int32_t> group_indptr, prefix_indptr, prefix_indices;
};

/// Waits for the device. `args` has passed check_paged_decode_cascade_args.
HostCascadeTable read_cascade_table(Backend& backend, const PagedDecodeCascadeArgs& args);

/// Validates every entry. `args` has passed check_paged_decode_cascade_args. Throws UsageError
/// naming the array and the row or group.
void check_cascade_table(const HostCascadeTable& table, const PagedDecodeCascadeArgs& args);

}  // namespace parity
