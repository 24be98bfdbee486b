// Merges the partial results of split attention: a block merges one head of one row. D/8 lanes hold
// one partial, so a block's lanes form streams, which are added up at the end in a fixed order.
#include "head_lanes.cuh"
#include "numeric.cuh"
#include "simt.cuh"
#include "split_kv_merge_params.cuh"

namespace parity {

using V = PARITY_DTYPE_V;
using Out = PARITY_DTYPE_OUT;

static_assert(kThreads == kSplitKvMergeThreads);

/// Weights of partials relative to the row's largest, and what they weigh.
struct Sum {
  f32 weight;
  f32 value[8];
};

PARITY_DEVICE void add(Sum& into, const Sum& from) {
  into.weight += from.weight;
#pragma unroll
  for (u32 j = 0; j < 8; ++j) into.value[j] += from.value[j];
}

/// The largest of the row's log-sum-exps that is a number, in every thread.
PARITY_DEVICE f32 largest(const SplitKvMergeParams& p, u32 begin, u32 end, u32 head,
                          f32 (&warps)[kThreads / 32]) {
  f32 max[1] = {-infinity()};
  for (u32 i = begin + thread_x(); i < end; i += kThreads)
    max[0] = larger(max[0], p.lse[static_cast<u64>(i) * p.heads + head]);
  segment_max<32>(kFullWarp, max);
  if (lane_id() == 0) warps[warp_id()] = max[0];
  block_barrier();
#pragma unroll
  for (u32 w = 0; w < kThreads / 32; ++w) max[0] = larger(max[0], warps[w]);
  return max[0];
}

/// This thread's eight elements of every kStreams-th partial.
PARITY_DEVICE Sum add_stream(const SplitKvMergeParams& p, u32 begin, u32 end, u32 head, f32 max) {
  const u32 lane = thread_x() % kLanes;
  Sum total = {};
  Sum chain = {};
  u32 in_chain = 0;
  if (lane >= kPacks) return total;
#pragma unroll 4
  for (u32 i = begin + thread_x() / kLanes; i < end; i += kStreams) {
    const u64 at = static_cast<u64>(i) * p.heads + head;
    const f32 lse = p.lse[at];
    f32 value[8];
    load8(static_cast<const V*>(p.v) + at * kHeadDim + lane * 8, value);
    if (lse == -infinity()) continue;  // left out, not multiplied by 0: its value may be a NaN
    // A NaN or +inf here makes the weight, and so all that follows, NaN.
    const f32 weight = exp2(lse - max);
    chain.weight += weight;
#pragma unroll
    for (u32 j = 0; j < 8; ++j) chain.value[j] = fma(weight, value[j], chain.value[j]);
    if (++in_chain == kLongestChain) {
      add(total, chain);
      chain = {};
      in_chain = 0;
    }
  }
  add(total, chain);
  return total;
}

// One block at once: left to itself, ptxas spills for sm_80 to fit more.
PARITY_KERNEL(split_kv_merge, SplitKvMergeParams, kThreads, 1) {
  PARITY_SHARED(f32, warps, kThreads / 32);
  PARITY_SHARED(f32, weights, kThreads);
  PARITY_SHARED(f32, values, 8 * kThreads);

  const u32 row = block_x() / p.heads;
  const u32 head = block_x() % p.heads;
  const u32 begin = static_cast<u32>(p.o_indptr[row]);
  const u32 end = static_cast<u32>(p.o_indptr[row + 1]);
  const f32 max = largest(p, begin, end, head, warps);
  const Sum mine = add_stream(p, begin, end, head, max);
  weights[thread_x()] = mine.weight;
#pragma unroll
  for (u32 j = 0; j < 8; ++j) values[j * kThreads + thread_x()] = mine.value[j];
  block_barrier();

  const u32 lane = thread_x();
  if (lane >= kPacks) return;
  Sum sum = {};
  for (u32 s = 0; s < kStreams; ++s) {
    const u32 thread = s * kLanes + lane;
    sum.weight += weights[thread];
#pragma unroll
    for (u32 j = 0; j < 8; ++j) sum.value[j] += values[j * kThreads + thread];
  }
  const bool nothing = sum.weight == 0.0f;  // no partial, or none that attended to anything
#pragma unroll
  for (u32 j = 0; j < 8; ++j) sum.value[j] = nothing ? 0.0f : sum.value[j] / sum.weight;
  const u64 at = static_cast<u64>(row) * p.heads + head;
  store8(static_cast<Out*>(p.out) + at * kHeadDim + lane * 8, sum.value);
  if (lane == 0) p.lse_out[at] = nothing ? -infinity() : max + log2(sum.weight);
}

}  // namespace parity
