// Paged decode attention, the partial of a split: a block computes up to GROUP query heads of one
// (chunk of a row, kv head), normalised. split_kv_merge puts the chunks of a row together.
#include "paged_decode_attend.cuh"
#include "paged_decode_v2_params.cuh"

namespace parity {

PARITY_KERNEL(paged_decode_v2, PagedDecodeV2Params, kThreads, kBlocksAtOnce) {
  const auto [query, flushed] = block_arrays();
  const PagedDecodeParams& c = p.common;
  const Task task = find_task(c);
  const u32 chunk = task.row;  // in chunks' order
  const u32 row = static_cast<u32>(p.chunk_row[chunk]);
  const u32 heads = c.kv_heads * c.group;
  stage_query(
      static_cast<const Q*>(c.q) + (static_cast<u64>(row) * heads + task.first_head) * kHeadDim,
      c.score_scale, task.heads, query);
  block_barrier();
  attend(c, find_row(c, row, chunk - static_cast<u32>(p.o_indptr[row]), p.pages_per_chunk),
         task.kv_head, query, flushed);
  block_barrier();
  const u64 head = static_cast<u64>(chunk) * heads + task.first_head;
  if (p.direct != 0)
    write_heads(flushed, task.heads, c.out_scale, static_cast<Out*>(c.out) + head * kHeadDim,
                c.lse + head);
  else
    write_heads(flushed, task.heads, c.out_scale, p.partial_out + head * kHeadDim,
                p.partial_lse + head);
}

}  // namespace parity
