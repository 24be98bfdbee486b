// Ten rounds of Philox-4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011).
#pragma once

#include "simt.cuh"

namespace parity {

struct PhiloxWords {
  u32 word[4];
};

/// Four random words that are a pure function of a 128-bit counter and the key {lo, hi}.
PARITY_DEVICE PhiloxWords philox4x32(u32 counter0, u32 counter1, u32 counter2, u32 counter3,
                                     u64 key) {
  u32 key0 = static_cast<u32>(key);
  u32 key1 = static_cast<u32>(key >> 32);
  PhiloxWords x = {{counter0, counter1, counter2, counter3}};
#pragma unroll
  for (u32 round = 0; round < 10; ++round) {
    const u64 even = static_cast<u64>(x.word[0]) * 0xd2511f53u;
    const u64 odd = static_cast<u64>(x.word[2]) * 0xcd9e8d57u;
    x = {{static_cast<u32>(odd >> 32) ^ x.word[1] ^ key0, static_cast<u32>(odd),
          static_cast<u32>(even >> 32) ^ x.word[3] ^ key1, static_cast<u32>(even)}};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return x;
}

/// As above, with the upper half of the counter given as one number.
PARITY_DEVICE PhiloxWords philox4x32(u32 counter0, u32 counter1, u64 step, u64 key) {
  return philox4x32(counter0, counter1, static_cast<u32>(step), static_cast<u32>(step >> 32), key);
}

}  // namespace parity
