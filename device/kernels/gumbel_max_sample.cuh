// Draws one token a row: the arg max of logit / temperature + Gumbel noise. A block takes one part
// of a row, a thread eight elements at a time.
#include "gumbel_key.cuh"
#include "gumbel_max_sample_params.cuh"
#include "gumbel_noise.cuh"
#include "numeric.cuh"
#include "philox.cuh"
#include "simt.cuh"

namespace parity {

using Logit = PARITY_DTYPE_LOGITS;
#if defined(PARITY_DTYPE_NOISE)  // by the plant noise_in_logits_dtype alone
using Noise = PARITY_DTYPE_NOISE;
#else
using Noise = f32;
#endif

constexpr u32 kPack = 8;
constexpr u32 kNoIndex = 0xffffffffu;

/// What a row's scores depend on beside its logits.
struct Draw {
  f32 temperature;
  f32 inverse;
  u64 seed;
  u64 step;
};

/// Of the elements that a thread has seen, which come in ascending order.
struct Best {
  f32 score = -infinity();
  u32 index = kNoIndex;
  bool nan = false;
  f32 floor =
      -infinity();  // of the whole warp's scores, the largest number there was when last told

  PARITY_DEVICE void consider(f32 other, u32 at) {
    if (!(other > score)) return;
    score = other;
    index = at;
  }
  PARITY_DEVICE u64 key() const {
    if (nan) return kNanKey;
    return index == kNoIndex ? kNoKey : gumbel_key(score, index);
  }
};

/// Elements beyond the row's end are -infinity, which is never chosen.
PARITY_DEVICE void load_pack(const Logit* row, u32 first, u32 vocabulary, bool aligned,
                             f32 (&values)[kPack]) {
  if (aligned && vocabulary - first >= kPack) {
    load8(row + first, values);
    return;
  }
#pragma unroll
  for (u32 j = 0; j < kPack; ++j)
    values[j] = first + j < vocabulary ? to_float(row[first + j]) : -infinity();
}

/// Full-precision logarithms only where a cheap bound leaves a chance.
PARITY_DEVICE void consider_drawn(const f32 (&values)[kPack], u32 first, const Draw& draw,
                                  Best& best) {
#pragma unroll
  for (u32 group = 0; group < kPack; group += 4) {
    const PhiloxWords random = philox4x32((first + group) / 4, 0, draw.step, draw.seed);
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
      const f32 logit = values[group + j];
      if (!(logit > -infinity())) {
        best.nan = best.nan || logit != logit;
        continue;
      }
      if (is_below(best.floor, logit, draw.inverse, random.word[j])) continue;
      const f32 score = gumbel_score<Noise>(logit, draw.temperature, random.word[j]);
      best.consider(score, first + group + j);
      // Infinity is no floor: of infinite logits the first wins, and it may be another thread's.
      if (score <= kLargestF32) best.floor = larger(best.floor, score);
    }
  }
}

PARITY_DEVICE void consider_greedily(const f32 (&values)[kPack], u32 first, Best& best) {
#pragma unroll
  for (u32 j = 0; j < kPack; ++j) {
    best.nan = best.nan || values[j] != values[j];
    best.consider(values[j], first + j);
  }
}

/// Tells the warp's lanes the largest of their floors, often while that still changes much.
PARITY_DEVICE void share_floor(u32 iteration, Best& best) {
  if ((iteration & (iteration + 1)) != 0 && iteration % 8 != 7) return;
  f32 floor[1] = {best.floor};
  segment_max<32>(0xffffffffu, floor);
  best.floor = floor[0];
}

/// Below this the temperature counts as 0: the largest logit is chosen, without noise.
constexpr f32 kGreedyBelow = 1e-5f;

/// Whether the noise can be scaled by it: no NaN, not negative, not infinite.
PARITY_DEVICE bool is_temperature(f32 temperature) {
  return temperature >= 0.0f && temperature <= kLargestF32;
}

template <bool kGreedy>
PARITY_DEVICE Best scan(const GumbelMaxSampleParams& p, u32 row, u32 split, const Draw& draw) {
  const Logit* const logits =
      static_cast<const Logit*>(p.logits) + static_cast<u64>(row) * p.vocabulary;
  const bool aligned = reinterpret_cast<u64>(logits) % 16 == 0;
  const u32 packs = (p.vocabulary + kPack - 1) / kPack;
  const u32 part = (packs + p.splits - 1) / p.splits;
  const u32 begin = split * part < packs ? split * part : packs;
  const u32 end = packs - begin < part ? packs : begin + part;
  Best best;
  f32 next[kPack];
  if (begin + thread_x() < end)
    load_pack(logits, (begin + thread_x()) * kPack, p.vocabulary, aligned, next);
  for (u32 base = begin, iteration = 0; base < end; base += kGumbelThreads, ++iteration) {
    const u32 pack = base + thread_x();
    if (pack < end) {
      f32 values[kPack];
#pragma unroll
      for (u32 j = 0; j < kPack; ++j) values[j] = next[j];
      if (pack + kGumbelThreads < end)
        load_pack(logits, (pack + kGumbelThreads) * kPack, p.vocabulary, aligned, next);
      if (kGreedy)
        consider_greedily(values, pack * kPack, best);
      else
        consider_drawn(values, pack * kPack, draw, best);
    }
    if (!kGreedy) share_floor(iteration, best);
  }
  return best;
}

PARITY_DEVICE u64 best_of_part(const GumbelMaxSampleParams& p, u32 row, u32 split) {
  const f32 temperature = p.temperature[row];
  if (!is_temperature(temperature)) return kNoKey;
  const Draw draw = {temperature, 1.0f / temperature, p.seed[row], p.step[row]};
  if (temperature < kGreedyBelow) return scan<true>(p, row, split, draw).key();
  return scan<false>(p, row, split, draw).key();
}

PARITY_KERNEL(gumbel_max_sample, GumbelMaxSampleParams, kGumbelThreads) {
  PARITY_SHARED(u64, keys, kGumbelThreads);
  const u32 row = block_x() / p.splits;
  const u32 split = block_x() % p.splits;
  keys[thread_x()] = best_of_part(p, row, split);
  block_barrier();
  if (thread_x() >= 32) return;
  u64 key = kNoKey;
#pragma unroll
  for (u32 i = 0; i < kGumbelThreads; i += 32) {
    const u64 other = keys[i + thread_x()];
    key = other > key ? other : key;
  }
  key = largest_in_warp(key);
  if (thread_x() != 0) return;
  if (p.splits == 1)
    store_token(key, p.token + row, p.ok + row);
  else
    p.partial[block_x()] = key;
}

}  // namespace parity
