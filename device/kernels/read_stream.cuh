// Reads a buffer once and keeps next to nothing of it: what no kernel that reads as many bytes can
// beat. The whole grid sweeps over the buffer together, each thread with eight loads in flight.
#include "numeric.cuh"
#include "read_stream_params.cuh"
#include "simt.cuh"

namespace parity {

constexpr u32 kThreads = 128;
constexpr u32 kInFlight = 8;
constexpr u32 kFullWarp = 0xffffffffu;

PARITY_DEVICE u32 fold(const Words4& w) {
  return w.word[0] ^ w.word[1] ^ w.word[2] ^ w.word[3];
}

PARITY_KERNEL(read_stream, ReadStreamParams, 128) {
  PARITY_SHARED(u32, warps, kThreads / 32);

  const u64 stride = static_cast<u64>(grid_x()) * kThreads;
  const char* const input = static_cast<const char*>(p.input);
  u32 sum = 0;
  u64 at = static_cast<u64>(block_x()) * kThreads + thread_x();
  for (; at + (kInFlight - 1) * stride < p.words; at += kInFlight * stride) {
    Words4 words[kInFlight];
#pragma unroll
    for (u32 i = 0; i < kInFlight; ++i) words[i] = load_words(input + 16 * (at + i * stride));
#pragma unroll
    for (u32 i = 0; i < kInFlight; ++i) sum ^= fold(words[i]);
  }
#pragma unroll
  for (u32 i = 0; i < kInFlight; ++i)
    if (at + i * stride < p.words) sum ^= fold(load_words(input + 16 * (at + i * stride)));
#pragma unroll
  for (u32 distance = 16; distance > 0; distance /= 2)
    sum ^= shuffle(kFullWarp, sum, lane_id() ^ distance);
  if (lane_id() == 0) warps[warp_id()] = sum;
  block_barrier();
  if (thread_x() != 0) return;
#pragma unroll
  for (u32 w = 1; w < kThreads / 32; ++w) sum ^= warps[w];
  p.sums[block_x()] = sum;
}

}  // namespace parity
