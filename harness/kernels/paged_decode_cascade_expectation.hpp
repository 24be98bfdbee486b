// What is right, and what must be rejected, for the operation paged_decode_cascade.
#pragma once

#include "harness/case.hpp"
#include "harness/kernel_spec.hpp"

namespace parity {

/// Expected values and bounds are those of paged_decode over prefix and suffix, and so are wrong
/// answers; beside them, where some group has a prefix: all prefixes left out.
ReferenceResult paged_decode_cascade_expectation(const Case& c, const TensorList& inputs);

}  // namespace parity
