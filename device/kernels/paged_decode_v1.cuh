// Paged decode attention, one pass: a block computes up to GROUP query heads of one (row, kv head).
#include "paged_decode_attend.cuh"

namespace parity {

PARITY_KERNEL(paged_decode_v1, PagedDecodeParams, kThreads, kBlocksAtOnce) {
  const auto [query, flushed] = block_arrays();
  const Task task = find_task(p);
  const u64 head = static_cast<u64>(task.row) * p.kv_heads * p.group + task.first_head;
  stage_query(static_cast<const Q*>(p.q) + head * kHeadDim, p.score_scale, task.heads, query);
  block_barrier();
  attend(p, find_row(p, task.row, 0, 0xffffffffu), task.kv_head, query, flushed);
  block_barrier();
  write_heads(flushed, task.heads, p.out_scale, static_cast<Out*>(p.out) + head * kHeadDim,
              p.lse + head);
}

}  // namespace parity
