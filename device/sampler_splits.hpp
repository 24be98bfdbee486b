// How many blocks share a row of a vocabulary.
#pragma once

#include <cstdint>

namespace parity {

/// Asks a sampler to choose.
inline constexpr std::int64_t kAutoSamplerSplits = 0;
inline constexpr std::int64_t kMostSamplerSplits = 64;

/// What kAutoSamplerSplits stands for: enough blocks for two on each multiprocessor, but none with
/// fewer than 4096 elements.
std::int64_t sampler_splits(std::int64_t rows, std::int64_t vocabulary,
                            std::int64_t multiprocessors);

}  // namespace parity
