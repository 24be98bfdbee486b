// Renders a variant: its spec as the opening comment and macros, then the kernel's text with every
// include expanded once. The texts are embedded in the program at build time.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/variant.hpp"

namespace parity {

/// File names ("paged_decode_v1.cuh") and contents.
using KernelTexts = std::vector<std::pair<std::string_view, std::string_view>>;

/// Every file in device/kernels/ (generated).
const KernelTexts& kernel_texts();

/// First line: "// parity module: " + spec.canonical(). Then `#define PARITY_DTYPE_<NAME> <dtype>`
/// and `#define PARITY_<CONSTANT> <value>` in the spec's order.
std::string opening(const VariantSpec& spec);

/// "<kernel>.cuh" with each `#include "x.cuh"` replaced by its text at first mention. Throws
/// UsageError for an unknown kernel or include.
std::string expand(const std::string& kernel, const KernelTexts& texts = kernel_texts());

/// opening(spec) + expand(spec.kernel): what is compiled.
std::string render(const VariantSpec& spec, const KernelTexts& texts = kernel_texts());

}  // namespace parity
