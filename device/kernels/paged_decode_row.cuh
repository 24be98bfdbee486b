// Rows of a page table: which tokens of one are attended, and on which page a token lies.
#pragma once

#include "paged_decode_params.cuh"
#include "simt.cuh"

namespace parity {

/// Consecutive tokens of a row: all of them, or a chunk's.
struct Row {
  const i32* pages;
  u32 first;  // position of token 0 in the first page
  u32 tokens;
};

/// Where one token lies.
struct Place {
  i32 page;
  u32 slot;
};

PARITY_DEVICE u32 page_of(const PagedDecodeParams& p, u32 position) {
  return static_cast<u32>((static_cast<u64>(position) * p.page_magic) >> p.page_shift);
}

/// Of the row's pages cut into chunks of `chunk_pages`, the attended tokens of one. A row without
/// pages is one empty chunk. Positions count from the chunk's first slot.
PARITY_DEVICE Row find_row(const PagedDecodeParams& p, u32 row, u32 chunk, u32 chunk_pages) {
  const u32 begin = static_cast<u32>(p.indptr[row]);
  const u32 pages = static_cast<u32>(p.indptr[row + 1]) - begin;
  if (pages == 0) return {p.indices, 0, 0};
  const u32 first_page = chunk * chunk_pages;
  const u32 left = pages - first_page;
  const u32 mine = left < chunk_pages ? left : chunk_pages;
  const u32 last = static_cast<u32>(p.last_page_len[row]);
  const u32 row_end = (left - 1) * p.page_size + last;
  const u32 end = mine == left ? row_end : mine * p.page_size;
  u32 first = chunk == 0 ? static_cast<u32>(p.first_page_offset[row]) : 0;
  if (p.window != 0 && row_end > p.window && first < row_end - p.window) first = row_end - p.window;
  if (first >= end) return {p.indices, 0, 0};
  const u32 skipped = page_of(p, first);
  return {p.indices + begin + first_page + skipped, first - skipped * p.page_size, end - first};
}

}  // namespace parity
