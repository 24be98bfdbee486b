// Values to ask launch functions for.
#include "harness/kernels/launch_variant.hpp"

#include <numeric>

namespace parity {

std::vector<Dtype> all_dtypes() {
  std::vector<Dtype> dtypes;
  for (int value = 0; value <= static_cast<int>(Dtype::u64); ++value)
    dtypes.push_back(static_cast<Dtype>(value));
  return dtypes;
}

std::vector<std::int64_t> one_to(std::int64_t last) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(last));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

}  // namespace parity
