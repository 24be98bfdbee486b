// Attention over selected slots, one pass: a block computes up to GROUP query heads of one (row, kv
// head), whose list of slots is a page table of its own with pages of one slot.
#include "paged_decode_attend.cuh"

namespace parity {

PARITY_KERNEL(paged_decode_sparse, PagedDecodeParams, kThreads, kBlocksAtOnce) {
  const auto [query, flushed] = block_arrays();
  const Task task = find_task(p);
  const u64 head = static_cast<u64>(task.row) * p.kv_heads * p.group + task.first_head;
  const u64 list = static_cast<u64>(task.row) * p.kv_heads + task.kv_head;
  const u32 begin = static_cast<u32>(p.indptr[list]);
  const Row slots{p.indices + begin, 0, static_cast<u32>(p.indptr[list + 1]) - begin};
  stage_query(static_cast<const Q*>(p.q) + head * kHeadDim, p.score_scale, task.heads, query);
  block_barrier();
  attend(p, slots, task.kv_head, query, flushed);
  block_barrier();
  write_heads(flushed, task.heads, p.out_scale, static_cast<Out*>(p.out) + head * kHeadDim,
              p.lse + head);
}

}  // namespace parity
