// How the lanes of a block of 128 threads share vectors of D elements: eight elements a lane, so
// D/8 lanes (rounded up to a power of two) hold one, and a block has that many fewer streams of
// them.
#pragma once

#include "simt.cuh"

namespace parity {

constexpr u32 kHeadDim = PARITY_D;
constexpr u32 kThreads = 128;
constexpr u32 kPacks = kHeadDim / 8;
constexpr u32 kLanes = kPacks > 16  ? 32
                       : kPacks > 8 ? 16
                       : kPacks > 4 ? 8
                       : kPacks > 2 ? 4
                                    : kPacks;
constexpr u32 kStreams = kThreads / kLanes;
constexpr u32 kFullWarp = 0xffffffffu;
// No f32 register adds up more terms than this before it is added to another: one longer chain
// fails 1e-5.
constexpr u32 kLongestChain = 512;

}  // namespace parity
