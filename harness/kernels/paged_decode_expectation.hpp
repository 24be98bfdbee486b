// What is right, how far off is allowed, and what must be rejected, for the operation paged_decode.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/case.hpp"
#include "harness/kernel_spec.hpp"

namespace parity {

enum class Pool : std::uint8_t;  // harness/kernels/paged_decode_layout.hpp
struct PagedDecodeProblem;       // reference/paged_decode.hpp
struct PagedPool;                // likewise

/// Where a pool lies in `inputs`, which must outlive it.
PagedPool paged_decode_pool(const Case& c, const TensorList& inputs, Pool which);

/// What the reference is asked of a case. `inputs` must outlive it.
PagedDecodeProblem paged_decode_problem(const Case& c, const TensorList& inputs);

/// out `[B, Hq, D]` in the dtype of axis out and lse `[B, Hq]` f32, without values.
std::vector<PackOutput> paged_decode_outputs(const Case& c);

/// Expected values from the reference. Bound of an element of out: c·2^-24·Σp|v| with
/// c = 16 + 4·√n + 2·max|s|, n = min(tokens, 512): kernels that hold P in f32 and add up at most
/// 512 tokens in a row.
ReferenceResult paged_decode_expectation(const Case& c, const TensorList& inputs);

}  // namespace parity
