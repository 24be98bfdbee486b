// Every module that a public launch function can ask for, found by asking it: the part of a
// kernel's description that the audit reads.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"
#include "device/variant.hpp"

namespace parity {

/// A module, and what was asked for.
struct LaunchVariant {
  /// What the caller chose, written as the spec should be. Never read off `spec`: a dtype or
  /// constant that the launch function forgets, freezes or swaps shows as a spec that differs.
  VariantSpec asked;
  VariantSpec spec;
};

struct KernelSpec;  // harness/kernel_spec.hpp

/// All that the kernel's launch function can ask for. Throws UsageError naming a kernel whose
/// description does not say.
std::vector<LaunchVariant> variants_of(const KernelSpec& kernel);

/// Every dtype there is.
std::vector<Dtype> all_dtypes();
/// 8, 16, ..., 256: the head dims of attention kernels.
std::vector<std::int64_t> all_head_dims();
/// 1, 2, ..., last.
std::vector<std::int64_t> one_to(std::int64_t last);

/// Those of `values` that `ask` does not refuse with a UsageError.
template <class Value, std::invocable<Value> Ask>
std::vector<Value> accepted(std::vector<Value> values, Ask ask) {
  std::erase_if(values, [&](const Value& value) {
    try {
      ask(value);
      return false;
    } catch (const UsageError&) {
      return true;
    }
  });
  return values;
}

}  // namespace parity
