// Paged decode attention, version 2: each row is cut into chunks of pages, computed by different
// blocks; split_kv_merge puts them together. Planned once on the host, run any number of times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/device_buffer.hpp"
#include "device/paged_decode_blocks.hpp"
#include "device/runtime.hpp"
#include "device/split_rows.hpp"

namespace parity {

/// chunks · heads · (head_dim + 1) · 4: f32 partial outputs, then their log-sum-exps.
std::int64_t paged_decode_v2_workspace_bytes(std::int64_t chunks, std::int64_t heads,
                                             std::int64_t head_dim);

/// Asks the plan to take pages_per_chunk and tile from the runtime's autotune memo.
inline constexpr std::int64_t kTunedPagesPerChunk = -1;

/// A split of one page table, with its arrays on the device: it must outlive the launches that use
/// it, and the runtime must outlive it.
class PagedDecodeV2Plan {
 public:
  /// `table` is args.table as it is on the device, or will be when the plan is run; it is always
  /// validated. Throws UsageError naming what is not supported or malformed, as paged_decode_v2
  /// does. kTunedPagesPerChunk tunes what the memo does not hold; where the memo measures, by
  /// running candidates on `args`, whose memory must then hold inputs and page table, and whose
  /// outputs are overwritten.
  PagedDecodeV2Plan(Runtime& runtime, const PagedDecodeArgs& args, const HostPageTable& table,
                    std::int64_t pages_per_chunk);

  const SplitPlan& split() const { return split_; }
  /// args.tile, unless it was tuned. The launch uses this one.
  std::int64_t tile() const { return planned_.tile; }
  /// What paged_decode_v2 needs: 0 where no row has more than one chunk.
  std::int64_t workspace_bytes() const;

 private:
  friend std::string paged_decode_v2(Runtime&, const PagedDecodeArgs&, const PagedDecodeV2Plan&,
                                     const DeviceTensor&);

  void require_same_problem(const PagedDecodeArgs& args) const;
  void require_same_table(const HostPageTable& table) const;
  void upload(Backend& backend);

  SplitPlan split_;
  PagedDecodeArgs planned_;                ///< shapes; no memory is looked at
  std::vector<std::int32_t> page_indptr_;  ///< [B+1]
  DeviceBuffer arrays_;                    ///< i32: o_indptr, then chunk_row
};

/// Key of the partial's module. Throws UsageError as paged_decode_v2 does.
VariantSpec paged_decode_v2_variant(const PagedDecodeChoice& choice);

/// Starts the kernels (asynchronously on a GPU). `workspace`: u8 of at least
/// plan.workspace_bytes() bytes, aligned to 16; without memory, the runtime's pool gives it. Throws
/// UsageError naming the argument that is not supported, malformed or not what was planned for;
/// nothing is launched then. args.checked also compares the page table with the plan's.
/// Returns the resolved plan: "v2 ppc=4 tile=4 chunks=11 merge=1 bucket=4 threads=128". Formula and
/// edge rule as paged_decode_v1.
std::string paged_decode_v2(Runtime& runtime, const PagedDecodeArgs& args,
                            const PagedDecodeV2Plan& plan, const DeviceTensor& workspace = {});

}  // namespace parity
