// What every paged decode kernel is given, the same for host code and kernel text.
#pragma once

namespace parity {

struct PagedDecodeParams {
  const void* q;  // [B, Hq, D]
  const void* k;
  const void* v;
  const int* indptr;             // [B+1]
  const int* indices;            // [nnz]
  const int* last_page_len;      // [B]
  const int* first_page_offset;  // [B]
  void* out;                     // [B, Hq, D]
  float* lse;                    // [B, Hq]
  // Strides of the pools in elements.
  long long k_page, k_slot, k_head;
  long long v_page, v_slot, v_head;
  float score_scale;  // log2(e) · scale
  unsigned kv_heads;
  unsigned group;        // query heads of a kv head
  unsigned head_chunks;  // blocks over one kv head's query heads
  unsigned page_size;
  // position / page_size = (position · page_magic) >> page_shift for every position below 2^31.
  unsigned page_magic;
  unsigned page_shift;
};

}  // namespace parity
