// Attention of up to GROUP query heads over consecutive pages of one row, by one block: what paged
// decode kernels share. A warp's lanes form token streams: D/8 lanes hold one token, and each
// stream runs its own online softmax in base 2. The block's streams are merged at the end in a
// fixed order.
#pragma once

#include "head_lanes.cuh"
#include "numeric.cuh"
#include "paged_decode_params.cuh"
#include "paged_decode_row.cuh"
#include "simt.cuh"

namespace parity {

using Q = PARITY_DTYPE_Q;
using K = PARITY_DTYPE_K;
using V = PARITY_DTYPE_V;
using Out = PARITY_DTYPE_OUT;

constexpr u32 kGroup = PARITY_GROUP;
constexpr bool kSoftcap = PARITY_SOFTCAP != 0;
constexpr u32 kUnroll = PARITY_TILE;  // tokens of a stream in flight
static_assert(kThreads == kPagedDecodeThreads);
constexpr u32 kBlocksAtOnce = paged_decode_blocks_at_once(kCapability, kHeadDim, kGroup,
                                                          sizeof(K) + sizeof(V), kUnroll, kSoftcap);
constexpr u32 kTile = kStreams * kUnroll;
constexpr u32 kChainTiles = kLongestChain / kUnroll;

/// Tokens that one stream has seen, for each head: largest score, sum of weights, weighted V.
struct Softmax {
  f32 max[kGroup];
  f32 sum[kGroup];
  f32 value[kGroup][8];
};

/// Per thread, in shared memory, thread index last: what was flushed out of registers.
struct Flushed {
  f32* max;    // [kGroup][kThreads]
  f32* sum;    // [kGroup][kThreads]
  f32* value;  // [kGroup][8][kThreads]
};

/// The block's shared memory.
struct BlockArrays {
  f32* query;  // [kGroup][2][kLanes][4]: see stage_head
  Flushed flushed;
};

PARITY_DEVICE BlockArrays block_arrays() {
  PARITY_SHARED(f32, query, kGroup * kLanes * 8);
  PARITY_SHARED(f32, flushed_max, kGroup * kThreads);
  PARITY_SHARED(f32, flushed_sum, kGroup * kThreads);
  PARITY_SHARED(f32, flushed_value, kGroup * 8 * kThreads);
  return {query, {flushed_max, flushed_sum, flushed_value}};
}

PARITY_DEVICE void clear(Softmax& state) {
#pragma unroll
  for (u32 h = 0; h < kGroup; ++h) {
    state.max[h] = -infinity();
    state.sum[h] = 0.0f;
#pragma unroll
    for (u32 j = 0; j < 8; ++j) state.value[h][j] = 0.0f;
  }
}

/// What exponents are taken relative to: the maximum, but 0 where that is -inf, so that a score of
/// -inf weighs 0 and a NaN score NaN even then.
PARITY_DEVICE f32 base_of(f32 max) {
  return max == -infinity() ? 0.0f : max;
}

/// What a sum relative to `old_max` is multiplied by to become relative to `new_max` >= old_max. At
/// old_max = -inf the sum is 0, or NaN after a NaN score, and stays so.
PARITY_DEVICE f32 rescale(f32 old_max, f32 new_max) {
  return exp2(old_max - base_of(new_max));
}

/// Of tokens from `token` on, kStreams apart; of the row's last one for those behind it, so that
/// every address is good. The row has tokens.
PARITY_DEVICE void find_places(const PagedDecodeParams& p, const Row& row, u32 token,
                               Place (&places)[kUnroll]) {
#pragma unroll
  for (u32 i = 0; i < kUnroll; ++i, token += kStreams) {
    const u32 position = row.first + (token < row.tokens ? token : row.tokens - 1);
    const u32 page = page_of(p, position);
    places[i] = {row.pages[page], position - page * p.page_size};
  }
}

/// This lane's eight elements of each token; `base` points at them in page 0, slot 0. Lanes beyond
/// D get zeros.
template <class T>
PARITY_DEVICE void load_tokens(const T* base, i64 page_stride, i64 slot_stride,
                               const Place (&places)[kUnroll], Pack8<T> (&packs)[kUnroll]) {
#pragma unroll
  for (u32 i = 0; i < kUnroll; ++i)
    packs[i] = load8(base + places[i].page * page_stride + places[i].slot * slot_stride);
  if constexpr (kPacks != kLanes) {
    if (thread_x() % kLanes < kPacks) return;
#pragma unroll
    for (u32 i = 0; i < kUnroll; ++i) packs[i] = {};
  }
}

/// Eight elements of one head's q, times scale, to their places: [head][half][lane][4] floats, for
/// conflict-free 16-byte reads.
PARITY_DEVICE void stage_head(const f32 (&values)[8], f32 scale, u32 head, u32 lane, f32* query) {
#pragma unroll
  for (u32 j = 0; j < 8; ++j)
    query[((head * 2 + j / 4) * kLanes + lane) * 4 + j % 4] = values[j] * scale;
}

/// q · scale of the block's heads, zero beyond `heads` and D.
PARITY_DEVICE void stage_query(const Q* q, f32 scale, u32 heads, f32* query) {
  for (u32 i = thread_x(); i < kGroup * kLanes; i += kThreads) {
    const u32 head = i / kLanes, lane = i % kLanes;
    f32 values[8] = {};
    if (head < heads && lane < kPacks) load8(q + head * kHeadDim + lane * 8, values);
    stage_head(values, scale, head, lane, query);
  }
}

/// Score of every token and head, in every lane of the stream. `softcap`: as in the parameters.
PARITY_DEVICE void score_tokens(const Pack8<K> (&packs)[kUnroll], const f32* query, u32 lane,
                                f32 softcap, f32 (&scores)[kUnroll * kGroup]) {
#pragma unroll
  for (u32 h = 0; h < kGroup; ++h) {
    f32 q[8];
#pragma unroll
    for (u32 j = 0; j < 8; ++j) q[j] = query[((h * 2 + j / 4) * kLanes + lane) * 4 + j % 4];
#pragma unroll
    for (u32 i = 0; i < kUnroll; ++i) {
      f32 k[8];
      unpack(packs[i], k);
      f32 dot = 0.0f;
#pragma unroll
      for (u32 j = 0; j < 8; ++j) dot = fma(q[j], k[j], dot);
      scores[i * kGroup + h] = dot;
    }
  }
  segment_sum<kLanes>(kFullWarp, scores);
  if constexpr (kSoftcap) {
#pragma unroll
    for (u32 i = 0; i < kUnroll * kGroup; ++i) scores[i] = softcap * tanh(scores[i]);
  }
}

/// Turns scores into weights relative to the new maximum, and rescales what the state holds.
PARITY_DEVICE void weigh(Softmax& state, f32 (&scores)[kUnroll * kGroup]) {
#pragma unroll
  for (u32 h = 0; h < kGroup; ++h) {
    f32 max = state.max[h];
#pragma unroll
    for (u32 i = 0; i < kUnroll; ++i) max = larger(max, scores[i * kGroup + h]);
    const f32 factor = rescale(state.max[h], max);
    state.sum[h] *= factor;
#pragma unroll
    for (u32 j = 0; j < 8; ++j) state.value[h][j] *= factor;
    state.max[h] = max;
#pragma unroll
    for (u32 i = 0; i < kUnroll; ++i)
      scores[i * kGroup + h] = exp2(scores[i * kGroup + h] - base_of(max));
  }
}

/// A token behind the row's last one weighs 0 and its V is the last one's, so it changes nothing
/// but the kind of a non-finite element. A score of -inf weighs 0 too: its V is finite, by
/// contract.
PARITY_DEVICE void accumulate(Softmax& state, const f32 (&weights)[kUnroll * kGroup],
                              const Pack8<V> (&packs)[kUnroll]) {
#pragma unroll
  for (u32 i = 0; i < kUnroll; ++i) {
    f32 v[8];
    unpack(packs[i], v);
#pragma unroll
    for (u32 h = 0; h < kGroup; ++h) {
      const f32 weight = weights[i * kGroup + h];
      state.sum[h] += weight;
#pragma unroll
      for (u32 j = 0; j < 8; ++j) state.value[h][j] = fma(weight, v[j], state.value[h][j]);
    }
  }
}

/// Adds the state to this thread's slots and clears it.
PARITY_DEVICE void flush(Softmax& state, const Flushed& flushed, bool first) {
  const u32 thread = thread_x();
#pragma unroll
  for (u32 h = 0; h < kGroup; ++h) {
    f32& max = flushed.max[h * kThreads + thread];
    f32& sum = flushed.sum[h * kThreads + thread];
    const f32 both = first ? state.max[h] : larger(max, state.max[h]);
    const f32 old_factor = first ? 1.0f : rescale(max, both);
    const f32 factor = rescale(state.max[h], both);
    max = both;
    sum = (first ? 0.0f : sum * old_factor) + state.sum[h] * factor;
#pragma unroll
    for (u32 j = 0; j < 8; ++j) {
      f32& value = flushed.value[(h * 8 + j) * kThreads + thread];
      value = (first ? 0.0f : value * old_factor) + state.value[h][j] * factor;
    }
  }
  clear(state);
}

/// Merges the streams for eight elements of one head and writes them, times `scale`.
template <class T>
PARITY_DEVICE void merge_streams(const Flushed& flushed, u32 head, u32 lane, f32 scale, T* out,
                                 f32* lse) {
  f32 max = -infinity();
  for (u32 s = 0; s < kStreams; ++s)
    max = larger(max, flushed.max[head * kThreads + s * kLanes + lane]);
  f32 sum = 0.0f;
  f32 value[8] = {};
  for (u32 s = 0; s < kStreams; ++s) {
    const u32 thread = s * kLanes + lane;
    const f32 factor = rescale(flushed.max[head * kThreads + thread], max);
    sum = fma(flushed.sum[head * kThreads + thread], factor, sum);
#pragma unroll
    for (u32 j = 0; j < 8; ++j)
      value[j] = fma(flushed.value[(head * 8 + j) * kThreads + thread], factor, value[j]);
  }
  const bool nothing = sum == 0.0f;  // not attended, or every score -inf
#pragma unroll
  for (u32 j = 0; j < 8; ++j) value[j] = nothing ? 0.0f : value[j] / sum * scale;
  store8(out + lane * 8, value);
  if (lane == 0) *lse = nothing ? -infinity() : max + log2(sum);
}

/// The row's tokens, a tile at a time; every thread of the block ends with its flushed state.
PARITY_DEVICE void attend(const PagedDecodeParams& p, const Row& row, u32 kv_head, const f32* query,
                          const Flushed& flushed) {
  Softmax state;
  clear(state);
  if (row.tokens == 0) {
    flush(state, flushed, true);
    return;
  }
  const u32 lane = thread_x() % kLanes;
  const u32 pack = lane < kPacks ? lane : kPacks - 1;
  const K* k_base = static_cast<const K*>(p.k) + kv_head * p.k_head + pack * 8;
  const V* v_base = static_cast<const V*>(p.v) + kv_head * p.v_head + pack * 8;
  u32 token = thread_x() / kLanes;
  Place next[kUnroll];
  find_places(p, row, token, next);
  bool first = true;
  u32 tiles_in_chain = 0;
  for (u32 tile = 0; tile < row.tokens; tile += kTile, token += kTile) {
    Pack8<K> k[kUnroll];
    Pack8<V> v[kUnroll];
    load_tokens(k_base, p.k_page, p.k_slot, next, k);
    load_tokens(v_base, p.v_page, p.v_slot, next, v);
    find_places(p, row, token + kTile, next);

    f32 scores[kUnroll * kGroup];
    score_tokens(k, query, lane, p.softcap, scores);
    if (tile + kTile > row.tokens) {
#pragma unroll
      for (u32 i = 0; i < kUnroll * kGroup; ++i)
        if (token + i / kGroup * kStreams >= row.tokens) scores[i] = -infinity();
    }
    weigh(state, scores);
    accumulate(state, scores, v);
    if (++tiles_in_chain == kChainTiles) {
      flush(state, flushed, first);
      first = false;
      tiles_in_chain = 0;
    }
  }
  if (first || tiles_in_chain > 0) flush(state, flushed, first);
}

/// What a block computes: which heads, of which row's tokens.
struct Task {
  u32 row;
  u32 kv_head;
  u32 heads;       // of GROUP; the last block of a kv head may have fewer
  u32 first_head;  // among the row's query heads
};

/// Blocks are ordered by row (or chunk), then kv head, then chunk of query heads.
PARITY_DEVICE Task find_task(const PagedDecodeParams& p) {
  const u32 chunk = block_x() % p.head_chunks;
  const u32 kv_head = block_x() / p.head_chunks % p.kv_heads;
  const u32 left = p.group - chunk * kGroup;
  return {block_x() / p.head_chunks / p.kv_heads, kv_head, left < kGroup ? left : kGroup,
          kv_head * p.group + chunk * kGroup};
}

/// Every head of the task: `out` and `lse` are its first head's.
template <class T>
PARITY_DEVICE void write_heads(const Flushed& flushed, u32 heads, f32 scale, T* out, f32* lse) {
  for (u32 i = thread_x(); i < heads * kLanes; i += kThreads) {
    const u32 head = i / kLanes, lane = i % kLanes;
    if (lane < kPacks) merge_streams(flushed, head, lane, scale, out + head * kHeadDim, lse + head);
  }
}

}  // namespace parity
