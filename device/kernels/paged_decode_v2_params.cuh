// The parameter struct of paged_decode_v2's partial, the same for host code and kernel text.
#pragma once

#include "device/kernels/paged_decode_params.cuh"

namespace parity {

struct PagedDecodeV2Params {
  PagedDecodeParams common;
  const int* chunk_row;  // [chunks]: the row that a chunk belongs to
  const int* o_indptr;   // [B+1]: chunks of each row
  float* partial_out;    // [chunks, Hq, D]
  float* partial_lse;    // [chunks, Hq]
  unsigned pages_per_chunk;
  /// Every row has one chunk: results go to common.out and common.lse, in OUT.
  unsigned direct;
};

}  // namespace parity
