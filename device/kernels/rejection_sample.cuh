// Draws a token of each row by dual-pivot rejection on integer weights: exact, so that neither the
// order of a sum nor the number of splits can matter. A row lies in packs of eight elements that
// are aligned in memory; a range of packs is divided among splits, and then among a block's warps.
#include "rejection_sample_rounds.cuh"
#include "rejection_sample_row.cuh"
#include "rejection_sample_select.cuh"

namespace parity {

using Phase = RejectionSamplePhase;

/// What a block does next. Each pass over elements stands in the kernel's text once, for rows that
/// are split and for those that are not: there are enough of them to compile.
struct Step {
  Phase phase;
  u32 number;  // among those of its phase
};

/// The step before a launch's own, whose results the launch before has left.
PARITY_DEVICE Step step_before(const RejectionSampleParams& p) {
  if (p.phase == Phase::digit && p.number > 0) return {Phase::digit, p.number - 1};
  if (p.phase == Phase::totals && p.digits > 0) return {Phase::digit, p.digits - 1};
  if (p.phase == Phase::digit || p.phase == Phase::totals) return {Phase::extent, 0};
  if (p.number > 0) return {Phase::round, p.number - 1};
  return {Phase::totals, 0};
}

/// Of all splits of the row, in every thread: sums, or after Phase::extent the largest.
PARITY_DEVICE void gather(const Block& block, bool largest, u64 (&results)[5]) {
#pragma unroll
  for (u32 n = 0; n < 5; ++n) results[n] = 0;
  u32 two[2] = {0, 0};
  for (u32 s = lane_id(); s < block.p.splits; s += 32) {
    const Part& part = block.parts_before()[s];
#pragma unroll
    for (u32 n = 0; n < 5; ++n) results[n] += part.sums[n];
#pragma unroll
    for (u32 n = 0; n < 2; ++n) two[n] = larger_of(two[n], static_cast<u32>(part.sums[n]));
  }
  if (!largest) return segment_sum<32>(kFullWarp, results);
  segment_max<32>(kFullWarp, two);
#pragma unroll
  for (u32 n = 0; n < 2; ++n) results[n] = two[n];
}

/// One pass over a range of the row. Results in every thread, but of digits in block.bins.
PARITY_DEVICE void pass(const Block& block, Step step, Range range, const State& state,
                        u64 (&results)[5]) {
  if (step.phase == Phase::extent) {
    find_largest(block, range, results);
  } else if (step.phase == Phase::digit) {
    if (needs_kth(block, state)) count_digits(block, range, state, step.number);
  } else if (step.phase == Phase::totals) {
    if (!state.ended) add_totals(block, range, state, results);
  } else if (!state.ended) {
    test_pivots(block, range, state, results);
  }
}

/// What follows from a pass over the whole row. Returns which of its sums are the draw weights that
/// the next candidate is drawn by.
PARITY_DEVICE u32 conclude(const Block& block, Step step, const u64 (&results)[5], State& state) {
  if (step.phase == Phase::extent) {
    state = begin_row(block, results);
  } else if (step.phase == Phase::digit) {
    if (needs_kth(block, state)) choose_digit(block, state, step.number);
  } else if (state.ended) {
    return 0;
  } else if (step.phase == Phase::round) {
    return decide(block, state, results);
  } else {
    begin_rounds(block, state, results);
  }
  return 1;
}

PARITY_DEVICE Step step_after(const Block& block, Step step) {
  if (step.phase == Phase::totals || step.phase == Phase::round) return {Phase::round, 0};
  const u32 next = step.phase == Phase::extent ? 0 : step.number + 1;
  if (next < block.p.digits) return {Phase::digit, next};
  return {Phase::totals, 0};
}

/// What the launch before has left, concluded. Draw weights of each split go to block.pieces.
PARITY_DEVICE State resume(const Block& block, Step before) {
  State state = before.phase == Phase::extent ? State{} : block.state_before();
  u64 results[5];
  gather(block, before.phase == Phase::extent, results);
  if (before.phase == Phase::digit && needs_kth(block, state)) add_bins_of_splits(block);
  const u32 draws = conclude(block, before, results, state);
  if (thread_x() < block.p.splits)
    block.pieces[thread_x()] = block.parts_before()[thread_x()].sums[draws];
  block_barrier();
  return state;
}

PARITY_DEVICE void publish(const Block& block, u32 split, const State& state,
                           const u64 (&results)[5]) {
  if (block.p.phase == Phase::digit && needs_kth(block, state)) block.publish_bins(split);
  if (thread_x() != 0) return;
  block.publish(split, results);
  if (split == 0) block.publish(state);
}

/// One step of a row that is split; all that is left of one whose last launch this is.
PARITY_DEVICE void run(const Block& block, u32 split, bool last) {
  const bool whole = last && block.p.splits == 1;
  Step step = {last ? Phase::round : block.p.phase, block.p.number};
  if (whole) step = {Phase::extent, 0};
  State state = {};
  if (step.phase != Phase::extent) state = resume(block, step_before(block.p));
  const Range packs = block.row.packs();
  const Range range = last ? packs : piece(packs, split, block.p.splits);
  const u64* pieces = block.pieces;
  u32 count = block.p.splits;
  while (true) {
    u64 results[5] = {0, 0, 0, 0, 0};
    if (step.phase == Phase::round && !state.ended) draw_candidate(block, state, pieces, count);
    if (last && state.ended) break;
    pass(block, step, range, state, results);
    if (!last) return publish(block, split, state, results);
    pieces = block.sums + conclude(block, step, results, state) * kWarps;
    count = kWarps;
    step = step_after(block, step);
  }
  if (thread_x() == 0) block.answer(state);
}

/// Blocks that fit on a multiprocessor at once. For more, ptxas spills.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr u32 kBlocksAtOnce = 2;
#else
constexpr u32 kBlocksAtOnce = 3;
#endif

PARITY_KERNEL(rejection_sample, RejectionSampleParams, kThreads, kBlocksAtOnce) {
  PARITY_SHARED(u64, sums, 5 * kWarps);
  PARITY_SHARED(u64, pieces, kRejectionSampleMostSplits);
  PARITY_SHARED(u64, descent, 32);
  PARITY_SHARED(u32, bins, kRejectionSampleBins);
  const bool last = p.phase == Phase::finish;
  const u32 row = last ? block_x() : block_x() / p.splits;
  const Block block = {p, row, Row(p, row), Filters(p, row), sums, pieces, descent, bins};
  run(block, last ? 0 : block_x() % p.splits, last);
}

}  // namespace parity
