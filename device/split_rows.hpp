// Cutting the rows of a page table into chunks of pages, computed by different blocks.
#pragma once

#include <cstdint>
#include <vector>

namespace parity {

/// Asks the plan to choose pages_per_chunk.
inline constexpr std::int64_t kAutoPagesPerChunk = 0;

/// Rows cut into chunks. Every row has at least one, also one without pages; row r has
/// max(1, ceil(pages_r / pages_per_chunk)).
struct SplitPlan {
  std::int64_t pages_per_chunk = 0;
  std::vector<std::int32_t> o_indptr;   ///< [B+1]: chunks of each row
  std::vector<std::int32_t> chunk_row;  ///< [chunks]: the row of each chunk

  std::int64_t chunks() const { return static_cast<std::int64_t>(chunk_row.size()); }
  /// Some row has more than one chunk.
  bool needs_merge() const { return chunks() + 1 > static_cast<std::int64_t>(o_indptr.size()); }
};

/// What the choice of pages_per_chunk depends on beside the rows' pages.
struct SplitDevice {
  std::int64_t multiprocessors = 1;
  std::int64_t blocks_per_multiprocessor = 1;  ///< of the partial, at once
};

/// Cuts rows of a validated page_indptr. `blocks_per_chunk`: of the grid. kAutoPagesPerChunk is
/// resolved by a pure function of the other arguments: the fewest waves of blocks, each as long as
/// its pages, plus what merging costs. Throws UsageError for pages_per_chunk below 0.
SplitPlan split_rows(const std::vector<std::int32_t>& page_indptr, std::int64_t page_size,
                     std::int64_t pages_per_chunk, std::int64_t blocks_per_chunk,
                     const SplitDevice& device);

}  // namespace parity
