// Input data of the operation paged_decode_cascade: that of paged_decode, with the first pages of a
// group's first row shared by all its rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/tensor.hpp"
#include "harness/case.hpp"
#include "reference/paged_decode_cascade.hpp"

namespace parity {

/// What each recipe holds: datasets/SCHEMA.md, Recipes.
std::vector<std::string> paged_decode_cascade_recipes();

/// Rows of each group, in order.
std::vector<std::int64_t> paged_decode_cascade_groups(const Case& c);

/// q and the pools of paged_decode, then group_indptr i32 [G+1], prefix_indptr i32 [G+1],
/// prefix_indices i32, and of the suffixes page_indptr i32 [B+1], page_indices i32, last_page_len
/// and first_page_offset i32 [B]. Throws UsageError for an invalid case.
TensorList paged_decode_cascade_inputs(const Case& c);
/// Those of paged_decode_cascade_inputs.
std::vector<InputType> paged_decode_cascade_input_types(const Case& c);

/// Views of such inputs, which must outlive it.
CascadeTable cascade_table(const TensorList& inputs);

}  // namespace parity
