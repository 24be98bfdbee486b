// What a block of rejection_sample works on: the row's values as bit patterns and weights, its
// filters, and the shared memory in which its warps meet.
#pragma once

#include "numeric.cuh"
#include "rejection_sample_params.cuh"
#include "simt.cuh"

namespace parity {

using P = PARITY_DTYPE_PROBS;
using Filter = PARITY_DTYPE_FILTER;
using State = RejectionSampleState;
using Part = RejectionSamplePart;

constexpr bool kHasDraw = PARITY_DRAW != 0;
constexpr u32 kThreads = kRejectionSampleThreads;
constexpr u32 kWarps = kThreads / 32;
constexpr u32 kFullWarp = 0xffffffffu;
constexpr u32 kLargestFinite = 0x7f7fffffu;

/// Packs begin to end - 1.
struct Range {
  u32 begin, end;
};

/// Part i of `count` nearly equal ones.
PARITY_DEVICE Range piece(Range whole, u32 i, u32 count) {
  const u32 packs = whole.end - whole.begin;
  return {whole.begin + packs * i / count, whole.begin + packs * (i + 1) / count};
}

struct Row {
  PARITY_DEVICE Row(const RejectionSampleParams& p, u32 row)
      : vocabulary(p.vocabulary),
        lead(static_cast<u32>(static_cast<u64>(row) * vocabulary % (16 / sizeof(P)))),
        probs(static_cast<const P*>(p.probs) + static_cast<u64>(row) * vocabulary),
        draw(static_cast<const P*>(p.draw) + static_cast<u64>(kHasDraw ? row : 0) * vocabulary) {}

  PARITY_DEVICE Range packs() const { return {0, (lead + vocabulary + 7) / 8}; }
  /// May be negative in pack 0.
  PARITY_DEVICE i32 first_of(u32 pack) const {
    return static_cast<i32>(8 * pack) - static_cast<i32>(lead);
  }

  u32 vocabulary;
  u32 lead;  // elements of the first pack that belong to the row before
  const P* probs;
  const P* draw;
};

/// -0 is 0. A negative value, an infinity and a NaN lie above kLargestFinite.
PARITY_DEVICE u32 pattern_of(f32 value) {
  const u32 bits = bits_of(value);
  return bits == 0x80000000u ? 0 : bits;
}

/// Patterns of a pack; 0 for what is not of the row.
PARITY_DEVICE void load_patterns(const Row& row, const P* values, u32 pack, u32 (&patterns)[8]) {
  const i32 first = row.first_of(pack);
  f32 value[8];
  if (first >= 0 && first + 8 <= static_cast<i32>(row.vocabulary)) {
    load8(values + first, value);
  } else {
#pragma unroll
    for (i32 j = 0; j < 8; ++j) {
      const bool inside = first + j >= 0 && first + j < static_cast<i32>(row.vocabulary);
      value[j] = inside ? to_float(values[first + j]) : 0.0f;
    }
  }
#pragma unroll
  for (u32 j = 0; j < 8; ++j) patterns[j] = pattern_of(value[j]);
}

/// Of a value and of what it is drawn by; calls visit(pattern, draw's pattern) for each element of
/// this lane's packs of a warp's range.
template <class Visit>
PARITY_DEVICE void visit_elements(const Row& row, Range range, Visit visit) {
#pragma unroll 1
  for (u32 pack = range.begin + lane_id(); pack < range.end; pack += 32) {
    u32 values[8], draws[8];
    load_patterns(row, row.probs, pack, values);
    if (kHasDraw) load_patterns(row, row.draw, pack, draws);
#pragma unroll
    for (u32 j = 0; j < 8; ++j) visit(values[j], kHasDraw ? draws[j] : values[j]);
  }
}

/// floor(p·2^(43-e)) for all p of a row, e = floor(log2 max).
struct Weights {
  PARITY_DEVICE explicit Weights(u32 max) : exponent(max >> 23), lift(20) {
    if (exponent != 0) return;
    exponent = 1;
    while (lift < 43 && (max << (lift - 20) & 0x800000u) == 0) ++lift;
  }

  /// Of a pattern up to max.
  PARITY_DEVICE u64 of(u32 pattern) const {
    const u32 field = pattern >> 23;
    const u32 significand = (pattern & 0x7fffffu) | (field != 0 ? 0x800000u : 0);
    const u32 down = exponent - (field != 0 ? field : 1);
    return down < 64 ? (static_cast<u64>(significand) << lift) >> down : 0;
  }

  u32 exponent;
  u32 lift;
};

/// Filters of a row. `joint` or not is no matter of theirs, but of the total.
struct Filters {
  PARITY_DEVICE Filters(const RejectionSampleParams& p, u32 row)
      : top_k(static_cast<u32>(p.top_k[row])),
        has_top_k(p.top_k[row] > 0 && top_k < p.vocabulary),
        top_p(to_float(static_cast<const Filter*>(p.top_p)[row])),
        min_p(to_float(static_cast<const Filter*>(p.min_p)[row])) {}

  PARITY_DEVICE bool has_top_p() const { return top_p < 1.0f; }  // a NaN is none
  /// What a kept value may have above it: floor(floor(top_p·2^32)·total / 2^32).
  PARITY_DEVICE u64 limit(u64 total) const {
    if (!has_top_p()) return ~u64{0};
    if (!(top_p > 0.0f)) return 0;
    const u64 share = static_cast<u64>(top_p * 4294967296.0f);
    return (total >> 32) * share + ((total & 0xffffffffu) * share >> 32);
  }
  /// The least value that min_p keeps.
  PARITY_DEVICE u32 least(u32 max) const {
    if (!(min_p > 0.0f)) return 0;
    return min_p > 1.0f ? max : bits_of(min_p * f32_of(max));
  }

  u32 top_k;
  bool has_top_k;
  f32 top_p;
  f32 min_p;
};

/// Everything that the functions of a block share.
struct Block {
  PARITY_DEVICE u64 at(u32 split) const { return static_cast<u64>(index) * p.splits + split; }
  PARITY_DEVICE const State& state_before() const { return p.state_before[index]; }
  PARITY_DEVICE const Part* parts_before() const { return p.parts_before + at(0); }

  PARITY_DEVICE void publish(const State& state) const { p.state[index] = state; }
  PARITY_DEVICE void publish(u32 split, const u64 (&values)[5]) const {
#pragma unroll
    for (u32 n = 0; n < 5; ++n) p.parts[at(split)].sums[n] = values[n];
  }
  PARITY_DEVICE void publish_bins(u32 split) const {
    p.bins[at(split) * kRejectionSampleBins + thread_x()] = bins[thread_x()];
  }
  PARITY_DEVICE void answer(const State& state) const {
    const bool ok = state.ended == 1;
    p.token[index] = ok ? static_cast<i32>(state.candidate) : -1;
    p.ok[index] = ok ? 1 : 0;
    p.rounds[index] = static_cast<i32>(state.rounds);
  }

  const RejectionSampleParams& p;
  u32 index;  // of the row
  Row row;
  Filters filters;
  u64 (&sums)[5 * kWarps];                    // of each warp, kWarps of one sum after another
  u64 (&pieces)[kRejectionSampleMostSplits];  // of each split
  u64 (&descent)[32];                         // of each part of a range
  u32 (&bins)[kRejectionSampleBins];
};
static_assert(kThreads == kRejectionSampleBins);

/// Sums of the block; leaves those of each warp in block.sums.
template <u32 N>
PARITY_DEVICE void block_sum(const Block& block, u64 (&values)[N]) {
  segment_sum<32>(kFullWarp, values);
  block_barrier();  // All have done with what was there.
  if (lane_id() == 0) {
#pragma unroll
    for (u32 n = 0; n < N; ++n) block.sums[n * kWarps + warp_id()] = values[n];
  }
  block_barrier();
#pragma unroll
  for (u32 n = 0; n < N; ++n) {
    values[n] = 0;
#pragma unroll
    for (u32 w = 0; w < kWarps; ++w) values[n] += block.sums[n * kWarps + w];
  }
}

}  // namespace parity
