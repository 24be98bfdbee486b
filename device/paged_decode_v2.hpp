// Paged decode attention, version 2: each row is cut into chunks of pages, computed by different
// blocks; split_kv_merge puts them together. Planned once on the host, run any number of times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/device_buffer.hpp"
#include "device/paged_decode_args.hpp"
#include "device/runtime.hpp"

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

/// chunks · heads · (head_dim + 1) · 4: f32 partial outputs, then their log-sum-exps.
std::int64_t paged_decode_v2_workspace_bytes(std::int64_t chunks, std::int64_t heads,
                                             std::int64_t head_dim);

/// A split of one page table, with its arrays on the device. The runtime must outlive it.
class PagedDecodeV2Plan {
 public:
  /// `table` is args.table as it is on the device, or will be when the plan is run; it is always
  /// validated. Throws UsageError naming what is not supported or malformed, as paged_decode_v2
  /// does.
  PagedDecodeV2Plan(Runtime& runtime, const PagedDecodeArgs& args, const HostPageTable& table,
                    std::int64_t pages_per_chunk);

  const SplitPlan& split() const { return split_; }
  /// What paged_decode_v2 needs: 0 where no row has more than one chunk.
  std::int64_t workspace_bytes() const { return workspace_bytes_; }

 private:
  friend std::string paged_decode_v2(Runtime&, const PagedDecodeArgs&, const PagedDecodeV2Plan&,
                                     const DeviceTensor&);

  void require_same_shapes(const PagedDecodeArgs& args) const;
  void upload(Backend& backend);

  SplitPlan split_;
  Shape q_shape_;
  std::int64_t page_size_ = 0;
  std::int64_t kv_heads_ = 0;
  std::int64_t workspace_bytes_ = 0;
  std::vector<std::int32_t> empty_chunks_;  ///< those of rows without tokens, where a merge follows
  DeviceBuffer arrays_;                     ///< i32: o_indptr, then chunk_row
};

/// Key of the partial's module. Throws UsageError as paged_decode_v2 does.
VariantSpec paged_decode_v2_variant(Dtype q, Dtype k, Dtype v, std::int64_t head_dim,
                                    std::int64_t group_size);

/// Starts the kernels (asynchronously on a GPU). `workspace`: u8 of at least
/// plan.workspace_bytes() bytes, aligned to 16; without memory, the runtime's pool gives it. Throws
/// UsageError naming the argument that is not supported or malformed; nothing is launched then.
/// Returns the resolved plan: "v2 ppc=4 chunks=11 merge=1 bucket=4 threads=128". Formula and edge
/// rule as paged_decode_v1.
std::string paged_decode_v2(Runtime& runtime, const PagedDecodeArgs& args,
                            const PagedDecodeV2Plan& plan, const DeviceTensor& workspace = {});

}  // namespace parity
