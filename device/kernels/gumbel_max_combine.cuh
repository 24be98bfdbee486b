// Chooses among what the blocks of a row's parts have chosen: a warp a row.
#include "gumbel_key.cuh"
#include "gumbel_max_sample_params.cuh"
#include "simt.cuh"

namespace parity {

PARITY_KERNEL(gumbel_max_combine, GumbelMaxCombineParams, kGumbelCombineThreads) {
  const u64* const row = p.partial + static_cast<u64>(block_x()) * p.splits;
  u64 key = kNoKey;
#pragma unroll
  for (u32 part = 0; part < kGumbelMostSplits; part += kGumbelCombineThreads) {
    const u32 split = part + thread_x();
    const u64 other = split < p.splits ? row[split] : kNoKey;
    key = other > key ? other : key;
  }
  key = largest_in_warp(key);
  if (thread_x() == 0) store_token(key, p.token + block_x(), p.ok + block_x());
}

}  // namespace parity
