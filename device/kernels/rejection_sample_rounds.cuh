// A round of rejection_sample: draw a candidate in index order, judge its value and one above it,
// and either accept it or narrow what the next is drawn from.
#pragma once

#include "philox.cuh"
#include "rejection_sample_row.cuh"

namespace parity {

/// What test_pivots adds up, by place in its array. Counts above both pivots share a number.
constexpr u32 kCounts = 0, kMass0 = 1, kMass1 = 2;
constexpr u32 kDraw0 = kHasDraw ? 3 : kMass0;
constexpr u32 kDraw1 = kHasDraw ? 4 : kMass1;
constexpr u32 kTests = kHasDraw ? 5 : 3;

PARITY_DEVICE u64 multiply_high(u64 a, u64 b) {
#if !defined(PARITY_HOST_MODULE)
  return __umul64hi(a, b);
#else
  return static_cast<u64>(static_cast<unsigned __int128>(a) * b >> 64);
#endif
}

/// Draws the row's first candidate from all values above 0.
PARITY_DEVICE void begin_rounds(const Block& block, State& state, const u64 (&totals)[5]) {
  state.limit = block.filters.limit(totals[0]);
  state.draw_mass = totals[1];
  state.low = 0;
  state.high = state.max;
  if (state.draw_mass == 0) state.ended = 2;
}

/// The part whose sum the target falls into, less what lies before it.
PARITY_DEVICE u32 pick(const u64* sums, u32 count, u64& target) {
  u32 i = 0;
  for (; i + 1 < count && target >= sums[i]; ++i) target -= sums[i];
  return i;
}

/// This lane's draw weights of values above low in a warp's range.
PARITY_DEVICE u64 draw_mass_of(const Block& block, const State& state, Range range) {
  const Weights draws(state.draw_max);
  u64 mass = 0;
  visit_elements(block.row, range, [&](u32 pattern, u32 drawn) {
    if (pattern > state.low) mass += draws.of(drawn);
  });
  return mass;
}

/// The part of the range that the target falls into: of kWarps ones, or of single packs where there
/// are few.
PARITY_DEVICE Range narrow(const Block& block, const State& state, Range range, u64& target) {
  const bool few = range.end - range.begin <= 32;
  u64 mass[1] = {0};
  block_barrier();  // All have done with what was there.
  if (few) {        // a lane a pack
    const Range mine = {range.begin, range.end};
    if (warp_id() == 0) block.descent[lane_id()] = draw_mass_of(block, state, mine);
  } else {
    mass[0] = draw_mass_of(block, state, piece(range, warp_id(), kWarps));
    segment_sum<32>(kFullWarp, mass);
    if (lane_id() == 0) block.descent[warp_id()] = mass[0];
  }
  block_barrier();
  const u32 count = few ? range.end - range.begin : kWarps;
  return piece(range, pick(block.descent, count, target), count);
}

/// Sets candidate and pivots: the smallest i with more draw weight of values above low up to i than
/// the target. pieces: draw weights above low of the `count` parts of the row.
PARITY_DEVICE void draw_candidate(const Block& block, State& state, const u64* pieces, u32 count) {
  const RejectionSampleParams& p = block.p;
  const PhiloxWords words = philox4x32(state.rounds, 1, p.step[block.index], p.seed[block.index]);
  u64 target =
      multiply_high(static_cast<u64>(words.word[0]) << 32 | words.word[1], state.draw_mass);
  Range range = piece(block.row.packs(), pick(pieces, count, target), count);
  while (range.end - range.begin > 1) range = narrow(block, state, range, target);
  u32 values[8], draws[8];
  load_patterns(block.row, block.row.probs, range.begin, values);
  if (kHasDraw) load_patterns(block.row, block.row.draw, range.begin, draws);
  const Weights weights(state.draw_max);
  i32 chosen = -1;
#pragma unroll
  for (i32 j = 0; j < 8; ++j) {
    const u64 weight = values[j] > state.low ? weights.of(kHasDraw ? draws[j] : values[j]) : u64{0};
    if (chosen < 0 && target < weight) {
      chosen = j;
      state.pivot0 = values[j];
    }
    if (chosen < 0) target -= weight;
  }
  state.candidate = static_cast<u32>(block.row.first_of(range.begin) + chosen);
  state.pivot1 = state.pivot0 + (state.high - state.pivot0) / 2;
  ++state.rounds;
}

/// Counts, masses and draw weights of values above either pivot; leaves those of each warp in
/// block.sums.
PARITY_DEVICE void test_pivots(const Block& block, Range range, const State& state,
                               u64 (&tests)[5]) {
  const Weights weights(state.max), draws(state.draw_max);
  u32 count0 = 0, count1 = 0;
  u64 mass0 = 0, mass1 = 0, draw0 = 0, draw1 = 0;
  visit_elements(block.row, piece(range, warp_id(), kWarps), [&](u32 pattern, u32 drawn) {
    if (pattern <= state.pivot0) return;
    const u64 weight = weights.of(pattern);
    const u64 draw = kHasDraw ? draws.of(drawn) : 0;
    ++count0;
    mass0 += weight;
    draw0 += draw;
    if (pattern <= state.pivot1) return;
    ++count1;
    mass1 += weight;
    draw1 += draw;
  });
  u64 sums[kTests];
  sums[kCounts] = static_cast<u64>(count1) << 32 | count0;
  sums[kMass0] = mass0;
  sums[kMass1] = mass1;
  if (kHasDraw) {
    sums[kDraw0] = draw0;
    sums[kDraw1] = draw1;
  }
  block_sum(block, sums);
#pragma unroll
  for (u32 n = 0; n < kTests; ++n) tests[n] = sums[n];
}

PARITY_DEVICE bool keeps(const Block& block, const State& state, u32 value, u32 count, u64 mass) {
  return (!block.filters.has_top_k || count < block.filters.top_k) && mass <= state.limit &&
         value >= block.filters.least(state.max);
}

/// Ends the row, or narrows it for the next round; returns which of the tests has the draw weights
/// that are left.
PARITY_DEVICE u32 decide(const Block& block, State& state, const u64 (&tests)[5]) {
  const u64 counts = tests[kCounts];
  u32 draws = kDraw0;
  if (keeps(block, state, state.pivot0, static_cast<u32>(counts), tests[kMass0])) {
    state.ended = 1;
    return draws;
  }
  if (keeps(block, state, state.pivot1, static_cast<u32>(counts >> 32), tests[kMass1])) {
    state.low = state.pivot0;
    state.high = state.pivot1;
    state.draw_mass = tests[kDraw0];
  } else {
    state.low = state.pivot1;
    state.draw_mass = tests[kDraw1];
    draws = kDraw1;
  }
  if (state.draw_mass == 0 || state.rounds == kRejectionSampleMostRounds) state.ended = 2;
  return draws;
}

}  // namespace parity
