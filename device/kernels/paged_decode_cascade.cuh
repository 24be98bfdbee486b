// Paged decode attention, the partials of a cascade: a block computes up to GROUP query heads, of
// one kv head but of any consecutive rows, over a chunk of the pages that these rows share. K and V
// are read once for all of them. split_kv_merge puts the chunks of a row together.
#include "paged_decode_attend.cuh"
#include "paged_decode_cascade_params.cuh"

namespace parity {

/// Consecutive query heads of one kv head, counted through rows.
struct RowHeads {
  u32 first_row;
  u32 kv_head;
  u32 first;
  u32 count;
};

/// Of one of them.
struct RowHead {
  u32 row;
  u32 head;  // among the row's query heads
};

PARITY_DEVICE RowHead row_head(const PagedDecodeParams& c, const RowHeads& heads, u32 i) {
  const u32 at = heads.first + i;
  return {heads.first_row + at / c.group, heads.kv_head * c.group + at % c.group};
}

/// As stage_query, of heads that need not lie side by side.
PARITY_DEVICE void stage_queries(const PagedDecodeParams& c, const RowHeads& heads, f32* query) {
  for (u32 i = thread_x(); i < kGroup * kLanes; i += kThreads) {
    const u32 head = i / kLanes, lane = i % kLanes;
    f32 values[8] = {};
    if (head < heads.count && lane < kPacks) {
      const RowHead from = row_head(c, heads, head);
      const u64 at = static_cast<u64>(from.row) * c.kv_heads * c.group + from.head;
      load8(static_cast<const Q*>(c.q) + at * kHeadDim + lane * 8, values);
    }
    stage_head(values, c.score_scale, head, lane, query);
  }
}

/// Every head's result to its row's partial of this chunk.
PARITY_DEVICE void write_rows(const PagedDecodeCascadeParams& p, const RowHeads& heads, u32 chunk,
                              const Flushed& flushed) {
  const PagedDecodeParams& c = p.common;
  for (u32 i = thread_x(); i < heads.count * kLanes; i += kThreads) {
    const u32 head = i / kLanes, lane = i % kLanes;
    if (lane >= kPacks) continue;
    const RowHead to = row_head(c, heads, head);
    const u32 partial = p.direct != 0 ? to.row : static_cast<u32>(p.first_partial[to.row]) + chunk;
    const u64 at = static_cast<u64>(partial) * c.kv_heads * c.group + to.head;
    if (p.direct != 0)
      merge_streams(flushed, head, lane, c.out_scale, static_cast<Out*>(c.out) + at * kHeadDim,
                    c.lse + at);
    else
      merge_streams(flushed, head, lane, c.out_scale, p.partial_out + at * kHeadDim,
                    p.partial_lse + at);
  }
}

PARITY_KERNEL(paged_decode_cascade, PagedDecodeCascadeParams, kThreads, kBlocksAtOnce) {
  const auto [query, flushed] = block_arrays();
  const PagedDecodeParams& c = p.common;
  const PagedDecodeCascadeTile tile = p.tiles[block_x() / c.kv_heads];
  const u32 set = static_cast<u32>(tile.set), chunk = static_cast<u32>(tile.chunk);
  const u32 first_row = static_cast<u32>(p.set_rows[set]);
  const u32 rows = static_cast<u32>(p.set_rows[set + 1]) - first_row;
  const u32 first = static_cast<u32>(tile.first_head);
  const u32 left = rows * c.group - first;
  const RowHeads heads{first_row, block_x() % c.kv_heads, first, left < kGroup ? left : kGroup};
  stage_queries(c, heads, query);
  block_barrier();
  attend(c, find_row(c, set, chunk, p.pages_per_chunk), heads.kv_head, query, flushed);
  block_barrier();
  write_rows(p, heads, chunk, flushed);
}

}  // namespace parity
