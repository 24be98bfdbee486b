// The parameter struct of paged_decode_cascade, the same for host code and kernel text.
#pragma once

#include "device/kernels/paged_decode_params.cuh"

namespace parity {

/// What a block computes for one kv head: up to GROUP query heads over one chunk of pages.
struct PagedDecodeCascadeTile {
  int set;
  int chunk;       // of the set's pages
  int first_head;  // query heads of the kv head, counted through the set's rows
};

/// A launch computes one level. A set is what shares a list of pages: at level 0 a group of rows
/// and its prefix, at level 1 a row and its suffix. common's page table is that of the sets.
struct PagedDecodeCascadeParams {
  PagedDecodeParams common;
  const PagedDecodeCascadeTile* tiles;
  const int* set_rows;       // [sets+1]: the rows of each, consecutive
  const int* first_partial;  // [B]: where the row's partial of chunk 0 goes
  float* partial_out;        // [partials, Hq, D]
  float* partial_lse;        // [partials, Hq]
  unsigned pages_per_chunk;
  /// Every row has one partial: results go to common.out and common.lse, in OUT.
  unsigned direct;
};

}  // namespace parity
