// Shapes and input data of the operation paged_decode, the same for every kernel of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tensor.hpp"
#include "harness/case.hpp"

namespace parity {

/// Attended tokens of one row, and where in its first page they begin.
struct PagedRow {
  std::int64_t tokens = 0;
  std::int64_t first_page_offset = 0;
};

/// What each recipe holds: datasets/SCHEMA.md, Recipes.
std::vector<std::string> paged_decode_recipes();
/// Those whose answer is exact or not a number.
std::vector<std::string> paged_decode_degenerate_recipes();

/// The rows of a recipe. Throws UsageError for an unknown one.
std::vector<PagedRow> paged_decode_rows(std::string_view recipe, std::int64_t page_size);

/// Whether axes d, hq, hkv and page form a case.
bool paged_decode_valid(const Case& c);

/// 1/√d, rounded to f32: multiplies q·k.
float paged_decode_scale(const Case& c);

/// q, k_pages, v_pages, page_indptr, page_indices, last_page_len, first_page_offset. Slots that no
/// row attends hold NaN, infinity and 6e4. Throws UsageError for an invalid case.
TensorList paged_decode_inputs(const Case& c);

}  // namespace parity
