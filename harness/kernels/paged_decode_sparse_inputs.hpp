// Input data of the operation paged_decode_sparse: that of paged_decode with pages of one slot, and
// which of a row's slots each kv head selects.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/tensor.hpp"
#include "harness/case.hpp"

namespace parity {

/// Of a row of `tokens` tokens, those that list row · hkv + kv_head selects, in order.
std::vector<std::int64_t> selected_tokens(const Case& c, std::int64_t list, std::int64_t tokens);

/// q and the pools of paged_decode, then page_indptr i32 [B·hkv+1] and page_indices i32 [nnz]. Of
/// slots that hold a row's token, those not selected hold what they have. Throws UsageError for an
/// invalid case.
TensorList paged_decode_sparse_inputs(const Case& c);

/// Those of paged_decode_sparse_inputs.
std::vector<InputType> paged_decode_sparse_input_types(const Case& c);

}  // namespace parity
