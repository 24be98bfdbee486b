// The best (score, index) as one number, so that a maximum decides in any order: the higher score
// wins, of equal scores the lower index, and NaN beats all.
#pragma once

#include "numeric.cuh"

namespace parity {

constexpr u64 kNoKey = 0;  // nothing can be chosen
constexpr u64 kNanKey = ~0ull;

/// `score` is no NaN. -0 counts as 0.
PARITY_DEVICE u64 gumbel_key(f32 score, u32 index) {
  const u32 bits = bits_of(score + 0.0f);
  const u32 ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<u64>(ordered) << 32 | ~index;
}

/// The largest of a warp's, in every lane.
PARITY_DEVICE u64 largest_in_warp(u64 key) {
#pragma unroll
  for (u32 distance = 16; distance > 0; distance /= 2) {
    const u64 other = shuffle(0xffffffffu, key, lane_id() ^ distance);
    key = other > key ? other : key;
  }
  return key;
}

PARITY_DEVICE void store_token(u64 key, i32* token, u8* ok) {
  const bool chosen = key != kNoKey && key != kNanKey;
  *token = chosen ? static_cast<i32>(~static_cast<u32>(key)) : -1;
  *ok = chosen ? 1 : 0;
}

}  // namespace parity
