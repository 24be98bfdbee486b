// Counts pages and rows of a recipe.
#include "harness/kernels/paged_decode_input_types.hpp"

#include <string>
#include <utility>

#include "harness/kernels/paged_decode_inputs.hpp"
#include "harness/kernels/paged_decode_layout.hpp"

namespace parity {
namespace {

std::vector<PagedRow> rows_of(const Case& c) {
  return paged_decode_rows(c.recipe, c.constant("page"));
}

std::int64_t used_pages(const Case& c) {
  std::int64_t pages = 0;
  for (const PagedRow& row : rows_of(c)) pages += pages_of(row, c.constant("page"));
  return pages;
}

}  // namespace

InputType integers_type(std::string name, std::int64_t count) {
  return {std::move(name), {Dtype::i32, {count}}};
}

std::vector<InputType> paged_decode_tensor_types(const Case& c) {
  const Shape pool = pool_shape(c, used_pages(c) + kSparePages);
  const auto rows = static_cast<std::int64_t>(rows_of(c).size());
  std::vector<InputType> types = {{"q", {c.dtype("q"), {rows, c.constant("hq"), c.constant("d")}}}};
  for (const auto& [which, dtype] : {std::pair{Pool::k, c.dtype("k")}, {Pool::v, c.dtype("v")}}) {
    const std::string name(pool_tensor(page_layout(c), which));
    if (types.back().name != name) types.push_back({name, {dtype, pool}});
  }
  return types;
}

std::vector<InputType> paged_decode_input_types(const Case& c) {
  const auto rows = static_cast<std::int64_t>(rows_of(c).size());
  std::vector<InputType> types = paged_decode_tensor_types(c);
  types.push_back(integers_type("page_indptr", rows + 1));
  types.push_back(integers_type("page_indices", used_pages(c)));
  types.push_back(integers_type("last_page_len", rows));
  types.push_back(integers_type("first_page_offset", rows));
  return types;
}

}  // namespace parity
