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
/// Of these, those of real models' lengths: too long for every combination of axes.
std::vector<std::string> paged_decode_context_recipes();
/// Those whose answer is exact or not a number.
std::vector<std::string> paged_decode_degenerate_recipes();

/// The rows of a recipe, also of one that paged_decode_cascade alone has. Throws UsageError for an
/// unknown one.
std::vector<PagedRow> paged_decode_rows(std::string_view recipe, std::int64_t page_size);

/// Pages that belong to no row.
inline constexpr std::int64_t kSparePages = 2;
/// Pages of one row.
std::int64_t pages_of(const PagedRow& row, std::int64_t page_size);

/// 1/√d, rounded to f32: multiplies q·k.
float paged_decode_scale(const Case& c);
/// k multiplies q·k, v the output.
struct PagedDecodeScales {
  float k = 1.0F;
  float v = 1.0F;
};
/// 0.8125 for a k and 1.1875 for a v of fp8; 1 for any other dtype.
PagedDecodeScales paged_decode_scales(const Case& c);

/// q, the pools in the tensors of the case's layout (harness/kernels/paged_decode_layout.hpp),
/// page_indptr, page_indices, last_page_len, first_page_offset. Slots that hold no row's token, and
/// padding, hold NaN, infinity and 6e4. Throws UsageError for an invalid case.
TensorList paged_decode_inputs(const Case& c);

}  // namespace parity
