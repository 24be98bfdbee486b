// Paged decode attention of rows that share prefixes: level 0 is each group's prefix, whose K and V
// are read for all rows of the group at once; level 1 is each row's suffix; split_kv_merge puts
// them together. Planned once on the host, run any number of times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/device_buffer.hpp"
#include "device/kernels/paged_decode_cascade_params.cuh"
#include "device/paged_decode_blocks.hpp"
#include "device/paged_decode_cascade_args.hpp"
#include "device/runtime.hpp"
#include "device/split_rows.hpp"

namespace parity {

/// One level of a cascade, cut into blocks.
struct CascadeLevel {
  std::int64_t pages_per_chunk = 1;
  std::vector<PagedDecodeCascadeTile> tiles;  ///< one block for each kv head
};

/// A split of prefixes and suffixes, with its arrays on the device: it must outlive the launches
/// that use it, and the runtime must outlive it. Every row has the partials of its group's prefix
/// chunks, then one of each chunk of its suffix, at least one.
class PagedDecodeCascadePlan {
 public:
  /// `table` is what args names as it is on the device, or will be when the plan is run; it is
  /// always validated. pages_per_chunk is at least 1, for both levels, or kAutoPagesPerChunk, which
  /// chooses for each. Throws UsageError naming what is not supported or malformed.
  PagedDecodeCascadePlan(Runtime& runtime, const PagedDecodeCascadeArgs& args,
                         HostCascadeTable table, std::int64_t pages_per_chunk);

  const CascadeLevel& prefixes() const { return levels_[0]; }
  const CascadeLevel& suffixes() const { return levels_[1]; }
  std::int64_t partials() const { return o_indptr_.back(); }
  /// Some row has more than one partial.
  bool needs_merge() const { return partials() + 1 > std::ssize(o_indptr_); }
  /// What paged_decode_cascade needs: 0 where no row has more than one partial.
  std::int64_t workspace_bytes() const;

 private:
  friend std::string paged_decode_cascade(Runtime&, const PagedDecodeCascadeArgs&,
                                          const PagedDecodeCascadePlan&, const DeviceTensor&);

  /// The plan's arrays on the device.
  struct Arrays {
    int* o_indptr = nullptr;            ///< [B+1]: partials of each row
    const int* suffix_begin = nullptr;  ///< [B]: the first of its suffix
    const int* row_numbers = nullptr;   ///< [B+1]
    const int* prefix_last = nullptr;   ///< [G]: last_page_len of whole pages
    const int* prefix_first = nullptr;  ///< [G]: first_page_offset, 0
    std::array<const PagedDecodeCascadeTile*, 2> tiles = {};
  };

  void cut(std::int64_t pages_per_chunk, const Backend& backend);
  void number_partials();
  void upload(Backend& backend);
  void require_same_problem(const PagedDecodeCascadeArgs& args) const;
  void require_same_table(const HostCascadeTable& table) const;
  PagedDecodeCascadeParams params(std::size_t level, const PagedDecodeCascadeArgs& args,
                                  float score_factor) const;

  PagedDecodeCascadeArgs planned_;  ///< shapes; no memory is looked at
  HostCascadeTable table_;
  std::array<CascadeLevel, 2> levels_;
  std::vector<std::int32_t> o_indptr_, suffix_begin_;
  DeviceBuffer memory_;
  Arrays arrays_;
};

/// Key of a level's module. Level 1 asks for `choice` as it is, level 0 as paged_decode_cascade_
/// prefix_choice makes it. Throws UsageError as paged_decode_cascade does.
VariantSpec paged_decode_cascade_variant(const PagedDecodeChoice& choice);

/// Level 0 fills its blocks with query heads of several rows: eight, whatever the group size, so
/// that bits do not depend on how many rows share a prefix.
PagedDecodeChoice paged_decode_cascade_prefix_choice(PagedDecodeChoice choice);

/// Starts the kernels (asynchronously on a GPU). `workspace`: u8 of at least
/// plan.workspace_bytes() bytes, aligned to 16; without memory, the runtime's pool gives it. Throws
/// UsageError naming the argument that is not supported, malformed or not what was planned for;
/// nothing is launched then. args.decode.checked also compares the tables with the plan's. Returns
/// the resolved plan: "cascade ppc=2,4 tiles=3,7 partials=9 merge=1 bucket=4 threads=128". Formula
/// and edge rule as paged_decode_v1 over prefix and suffix; a row's bits do not depend on the other
/// rows, given pages_per_chunk and whether anything is merged.
std::string paged_decode_cascade(Runtime& runtime, const PagedDecodeCascadeArgs& args,
                                 const PagedDecodeCascadePlan& plan,
                                 const DeviceTensor& workspace = {});

}  // namespace parity
