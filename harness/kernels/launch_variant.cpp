// Values to ask launch functions for, and what a kernel's description made of them.
#include "harness/kernels/launch_variant.hpp"

#include <fmt/format.h>

#include <numeric>

#include "harness/kernel_spec.hpp"

namespace parity {

std::vector<LaunchVariant> variants_of(const KernelSpec& kernel) {
  std::vector<LaunchVariant> variants;
  if (kernel.variants) variants = kernel.variants();
  if (variants.empty())
    throw UsageError(fmt::format(
        "kernel '{}' has no variants, so its modules cannot be audited; set KernelSpec::variants",
        kernel.name));
  return variants;
}

std::vector<Dtype> all_dtypes() {
  return {kDtypes.begin(), kDtypes.end()};
}

std::vector<std::int64_t> all_head_dims() {
  std::vector<std::int64_t> dims = one_to(32);
  for (std::int64_t& dim : dims) dim *= 8;
  return dims;
}

std::vector<std::int64_t> one_to(std::int64_t last) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(last));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

}  // namespace parity
