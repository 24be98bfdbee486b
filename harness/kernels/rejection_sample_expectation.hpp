// What is right, and what must be rejected, for the operation rejection_sample.
#pragma once

#include <vector>

#include "harness/case.hpp"
#include "harness/kernel_spec.hpp"

namespace parity {

/// token [b] i32, ok [b] u8 and rounds [b] i32, without values; all exact.
std::vector<PackOutput> rejection_sample_outputs(const Case& c);

/// Expected values from the reference. Wrong answers, each by its tokens alone: no row has one; the
/// index off by one; where enough rows show it (recipe `ordinary`, 8 rows of 256 at least): each
/// filter dropped, the next step's words, draw probabilities filtered; and of 64 rows the other
/// filter order.
ReferenceResult rejection_sample_expectation(const Case& c, const TensorList& inputs);

}  // namespace parity
