// A pure function of shapes and device, so that a launch's grid never depends on what ran before.
#include "device/sampler_splits.hpp"

#include <algorithm>

#include "device/ceil_divide.hpp"

namespace parity {
namespace {

constexpr std::int64_t kFewestElements = 4096;
constexpr std::int64_t kBlocksPerMultiprocessor = 2;

}  // namespace

std::int64_t sampler_splits(std::int64_t rows, std::int64_t vocabulary,
                            std::int64_t multiprocessors) {
  const std::int64_t wanted =
      ceil_divide(kBlocksPerMultiprocessor * multiprocessors, std::max<std::int64_t>(1, rows));
  const std::int64_t most = std::min(kMostSamplerSplits, vocabulary / kFewestElements);
  return std::max<std::int64_t>(1, std::min(wanted, most));
}

}  // namespace parity
