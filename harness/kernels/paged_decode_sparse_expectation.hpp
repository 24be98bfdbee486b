// What is right, and what must be rejected, for the operation paged_decode_sparse.
#pragma once

#include "harness/case.hpp"
#include "harness/kernel_spec.hpp"

namespace parity {

/// Expected values from the reference; bounds as paged_decode's, of the row's longest list. Wrong
/// answers: the last slot of every list left out; all of a row's slots attended (the negative
/// control: absent where every list has them all); softcap and scales not used.
ReferenceResult paged_decode_sparse_expectation(const Case& c, const TensorList& inputs);

}  // namespace parity
