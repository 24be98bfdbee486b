// The axes of paged decode kernels, which of their combinations are cases, and shapes of real
// models.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/kernel_spec.hpp"

namespace parity {

/// q, out, k and v.
std::vector<DtypeAxis> paged_decode_dtypes();

/// d, hq, hkv, page, window, softcap, layout and graph.
std::vector<ConstantAxis> paged_decode_constants();

std::vector<Requirement> paged_decode_requirements();

/// Ids of attention shapes of published models, at contexts of thousands of tokens (recipe
/// `context`). `schedules` are what a kernel's own axes add (",ppc=auto"), taken in turn.
std::vector<std::string> paged_decode_published(std::string_view kernel,
                                                const std::vector<std::string_view>& schedules);

}  // namespace parity
