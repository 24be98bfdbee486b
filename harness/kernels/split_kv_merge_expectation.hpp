// What is right, how far off is allowed, and what must be rejected, for the operation
// split_kv_merge.
#pragma once

#include <vector>

#include "harness/case.hpp"
#include "harness/kernel_spec.hpp"

namespace parity {

/// out `[M, h, d]` in the dtype of axis `out` and lse_out `[M, h]` f32, without values.
std::vector<PackOutput> split_kv_merge_outputs(const Case& c);

/// Expected values from the reference. Bound of an element of out: c·2^-24·Σp|v| with
/// c = 16 + 4·√n + 2·max|lse|, n = min(partials, 512): kernels that add up at most 512 partials in
/// a row. Wrong answers: the last partial that attended to anything left out; merged in the natural
/// base (absent where no row merges two partials, for there it is right).
ReferenceResult split_kv_merge_expectation(const Case& c, const TensorList& inputs);

}  // namespace parity
