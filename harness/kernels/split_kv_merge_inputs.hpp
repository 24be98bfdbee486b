// Shapes and input data of the operation split_kv_merge.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tensor.hpp"
#include "harness/case.hpp"

namespace parity {

/// What each recipe holds: datasets/SCHEMA.md, Recipes.
std::vector<std::string> split_kv_merge_recipes();
/// Those whose answer is exact or not a number.
std::vector<std::string> split_kv_merge_degenerate_recipes();

/// Partials of each row. Throws UsageError for an unknown recipe.
std::vector<std::int64_t> split_kv_merge_rows(std::string_view recipe);

/// Whether axes d and h form a case.
bool split_kv_merge_valid(const Case& c);

/// v `[N,h,d]`, lse `[N,h]` f32, o_indptr `[M+1]` i32. v of partials that attended to nothing, and
/// all of those that belong to no row, is NaN, infinity and 6e4. Throws UsageError for an invalid
/// case.
TensorList split_kv_merge_inputs(const Case& c);
/// Those of split_kv_merge_inputs.
std::vector<InputType> split_kv_merge_input_types(const Case& c);

}  // namespace parity
