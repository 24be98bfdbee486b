// What comes before the rounds of rejection_sample: the row's largest value, the k-th largest by
// radix select, and the masses of the row.
#pragma once

#include "rejection_sample_row.cuh"

namespace parity {

/// Largest patterns of values and of draws, in every thread.
PARITY_DEVICE void find_largest(const Block& block, Range range, u64 (&results)[5]) {
  u32 value = 0, draw = 0;
  visit_elements(block.row, piece(range, warp_id(), kWarps), [&](u32 pattern, u32 drawn) {
    value = larger_of(value, pattern);
    draw = larger_of(draw, drawn);
  });
  u32 largest[2] = {value, draw};
  segment_max<32>(kFullWarp, largest);
  block_barrier();
  if (lane_id() == 0) block.sums[warp_id()] = static_cast<u64>(largest[1]) << 32 | largest[0];
  block_barrier();
#pragma unroll
  for (u32 w = 0; w < kWarps; ++w) {
    largest[0] = larger_of(largest[0], static_cast<u32>(block.sums[w]));
    largest[1] = larger_of(largest[1], static_cast<u32>(block.sums[w] >> 32));
  }
  results[0] = largest[0];
  results[1] = largest[1];
}

PARITY_DEVICE State begin_row(const Block& block, const u64 (&largest)[5]) {
  State state = {};
  state.max = static_cast<u32>(largest[0]);
  state.draw_max = static_cast<u32>(largest[1]);
  state.left = block.filters.top_k;
  const bool sound = state.max != 0 && state.max <= kLargestFinite && state.draw_max != 0 &&
                     state.draw_max <= kLargestFinite;
  state.ended = sound ? 0 : 2;
  return state;
}

/// Whether the total that top_p is a share of is that of what top_k keeps.
PARITY_DEVICE bool needs_kth(const Block& block, const State& state) {
  return !state.ended && block.p.digits > 0 && block.filters.has_top_k && block.filters.has_top_p();
}

/// Patterns of finite values have 31 bits; digit 0 is bits 23 to 30.
PARITY_DEVICE u32 shift_of(u32 number) {
  return number < 3 ? 23 - 8 * number : 0;
}

/// How many of the range's patterns that begin with the digits so far have each value of the next
/// digit, in block.bins.
PARITY_DEVICE void count_digits(const Block& block, Range range, const State& state, u32 number) {
  const u32 shift = shift_of(number);
  const u32 known = number == 0 ? 31 : shift_of(number - 1);  // bits below this are not chosen yet
  block_barrier();
  block.bins[thread_x()] = 0;
  block_barrier();
  u32(&bins)[kRejectionSampleBins] = block.bins;
  const Row& row = block.row;
  const Range mine = piece(range, warp_id(), kWarps);
  for (u32 pack = mine.begin + lane_id(); pack < mine.end; pack += 32) {
    u32 patterns[8];
    load_patterns(row, row.probs, pack, patterns);
#pragma unroll
    for (i32 j = 0; j < 8; ++j) {
      const i32 i = row.first_of(pack) + j;
      if (i < 0 || i >= static_cast<i32>(row.vocabulary)) continue;
      if (patterns[j] >> known != state.kth >> known) continue;
      atomic_add_relaxed(&bins[patterns[j] >> shift & 0xffu & ((1u << (known - shift)) - 1)], 1);
    }
  }
  block_barrier();
}

/// The same over all splits of the row, as the launch before has left them.
PARITY_DEVICE void add_bins_of_splits(const Block& block) {
  const u32* from = block.p.bins_before + block.at(0) * kRejectionSampleBins + thread_x();
  u32 count = 0;
  for (u32 s = 0; s < block.p.splits; ++s) count += from[s * kRejectionSampleBins];
  block_barrier();
  block.bins[thread_x()] = count;
  block_barrier();
}

/// The next digit of the k-th largest value, from block.bins.
PARITY_DEVICE void choose_digit(const Block& block, State& state, u32 number) {
  u32 digit = kRejectionSampleBins;
  while (digit >= 8) {  // eight at once, whose loads do not wait for each other
    u32 count = 0;
#pragma unroll
    for (u32 j = 1; j <= 8; ++j) count += block.bins[digit - j];
    if (state.left <= count) break;
    state.left -= count;
    digit -= 8;
  }
  while (digit > 1 && state.left > block.bins[digit - 1]) state.left -= block.bins[--digit];
  if (digit > 0) --digit;
  state.kth |= digit << shift_of(number);
}

/// {mass of what top_p is a share of, draw weights of all values above 0}; leaves them of each warp
/// in block.sums.
PARITY_DEVICE void add_totals(const Block& block, Range range, const State& state,
                              u64 (&results)[5]) {
  const Weights weights(state.max), draws(state.draw_max);
  u64 mass = 0, drawn_mass = 0;
  visit_elements(block.row, piece(range, warp_id(), kWarps), [&](u32 pattern, u32 drawn) {
    if (pattern >= state.kth) mass += weights.of(pattern);
    if (pattern > 0) drawn_mass += draws.of(drawn);
  });
  u64 totals[2] = {mass, drawn_mass};
  block_sum(block, totals);
  results[0] = totals[0];
  results[1] = totals[1];
}

}  // namespace parity
