// What every paged decode kernel is given, the same for host code and kernel text.
#pragma once

namespace parity {

constexpr unsigned kPagedDecodeThreads = 128;

#if defined(__CUDACC__)
#define PARITY_BOTH_SIDES __device__
#else
#define PARITY_BOTH_SIDES
#endif

/// Blocks that a multiprocessor holds at once: as many as the registers of a tile allow without
/// spilling on any architecture, for loads in flight are what counts. `pool_bytes`: of an element
/// of k and one of v. `tile`: tokens of a stream in flight. `capability`: 90 of sm_90a, 0 of the
/// host; the module and who plans for it ask with the same.
PARITY_BOTH_SIDES constexpr unsigned paged_decode_blocks_at_once(unsigned capability,
                                                                 unsigned head_dim,
                                                                 unsigned group_bucket,
                                                                 unsigned pool_bytes, unsigned tile,
                                                                 bool softcap) {
  if (tile > 4) return pool_bytes <= 2 ? 4 : pool_bytes <= 4 ? 3 : 2;
  if (group_bucket <= 2) return 4;
  // The same text takes a few registers more elsewhere.
  const bool is_tight = capability != 0 && (capability < 90 || capability >= 120);
  if (group_bucket == 4) return pool_bytes <= 4 && head_dim <= 128 && !softcap && !is_tight ? 4 : 3;
  return 2;
}

struct PagedDecodeParams {
  const void* q;  // [B, Hq, D]
  const void* k;
  const void* v;
  const int* indptr;             // [B+1]
  const int* indices;            // [nnz]
  const int* last_page_len;      // [B]
  const int* first_page_offset;  // [B]
  void* out;                     // [B, Hq, D] in OUT
  float* lse;                    // [B, Hq]
  // Strides of the pools in elements.
  long long k_page, k_slot, k_head;
  long long v_page, v_slot, v_head;
  float score_scale;  // log2(e) · k_scale · scale; with a softcap: k_scale · scale / cap
  float softcap;      // log2(e) · cap; unused where the module has none
  float out_scale;    // v_scale
  unsigned window;    // only the last so many tokens of a row are attended; 0: all
  unsigned kv_heads;
  unsigned group;        // query heads of a kv head
  unsigned head_chunks;  // blocks over one kv head's query heads
  unsigned page_size;
  // position / page_size = (position · page_magic) >> page_shift for every position below 2^31.
  unsigned page_magic;
  unsigned page_shift;
};

}  // namespace parity
