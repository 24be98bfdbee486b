// Groups and prefixes of the operation paged_decode_cascade: datasets/SCHEMA.md says the same for
// other languages.
#include "harness/kernels/paged_decode_cascade_inputs.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "harness/kernels/paged_decode_input_types.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"

namespace parity {
namespace {

using Integers = std::vector<std::int64_t>;

Integers integers_of(const Tensor& tensor) {
  Integers values;
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    values.push_back(static_cast<std::int64_t>(tensor.at(i)));
  return values;
}

Tensor tensor_of(const Integers& values) {
  Tensor result(Dtype::i32, {std::ssize(values)});
  for (std::size_t i = 0; i < values.size(); ++i)
    result.set(static_cast<std::int64_t>(i), static_cast<double>(values[i]));
  return result;
}

/// Pages that a group shares: those of its first row that hold none but its tokens, without the
/// page of its last token, and none where a row of the group begins inside a page.
std::int64_t prefix_pages(std::span<const PagedRow> group, std::int64_t page_size) {
  const bool aligned =
      std::ranges::all_of(group, [](const PagedRow& row) { return row.first_page_offset == 0; });
  const std::int64_t tokens = group.empty() ? 0 : group.front().tokens;
  return aligned && tokens > 0 ? (tokens - 1) / page_size : 0;
}

}  // namespace

std::vector<std::string> paged_decode_cascade_recipes() {
  return {"shared", "ragged", "exact", "short", "empty", "nan", "long", "prompt"};
}

std::vector<std::int64_t> paged_decode_cascade_groups(const Case& c) {
  if (c.recipe == "shared") return {3, 1, 2};
  std::int64_t rows = std::ssize(paged_decode_rows(c.recipe, c.constant("page")));
  if (c.recipe == "exact" || c.recipe == "long" || c.recipe == "prompt") return {rows};
  std::vector<std::int64_t> pairs;
  for (; rows > 0; rows -= pairs.back()) pairs.push_back(std::min<std::int64_t>(2, rows));
  return pairs;
}

std::vector<InputType> paged_decode_cascade_input_types(const Case& c) {
  const std::int64_t page_size = c.constant("page");
  const std::vector<PagedRow> rows = paged_decode_rows(c.recipe, page_size);
  const std::vector<std::int64_t> groups = paged_decode_cascade_groups(c);
  std::int64_t used = 0, shared = 0;
  for (const PagedRow& row : rows) used += pages_of(row, page_size);
  std::size_t row = 0;
  for (const std::int64_t size : groups) {
    const auto count = static_cast<std::size_t>(size);
    shared += prefix_pages(std::span(rows).subspan(row, count), page_size);
    row += count;
  }
  std::vector<InputType> types = paged_decode_tensor_types(c);
  types.push_back(integers_type("group_indptr", std::ssize(groups) + 1));
  types.push_back(integers_type("prefix_indptr", std::ssize(groups) + 1));
  types.push_back(integers_type("prefix_indices", shared));
  types.push_back(integers_type("page_indptr", std::ssize(rows) + 1));
  types.push_back(integers_type("page_indices", used - shared));
  types.push_back(integers_type("last_page_len", std::ssize(rows)));
  types.push_back(integers_type("first_page_offset", std::ssize(rows)));
  return types;
}

TensorList paged_decode_cascade_inputs(const Case& c) {
  TensorList dense = paged_decode_inputs(c);
  const std::vector<PagedRow> rows = paged_decode_rows(c.recipe, c.constant("page"));
  const Integers row_indptr = integers_of(find(dense, "page_indptr"));
  const Integers pages = integers_of(find(dense, "page_indices"));
  Integers group_indptr = {0}, prefix_indptr = {0}, prefix_indices, page_indptr = {0}, page_indices;
  std::size_t row = 0;
  for (const std::int64_t size : paged_decode_cascade_groups(c)) {
    const auto count = static_cast<std::size_t>(size);
    std::int64_t shared = prefix_pages(std::span(rows).subspan(row, count), c.constant("page"));
    for (std::int64_t i = 0; i < shared; ++i)
      prefix_indices.push_back(pages[static_cast<std::size_t>(row_indptr[row] + i)]);
    prefix_indptr.push_back(std::ssize(prefix_indices));
    for (const std::size_t end = row + count; row < end; ++row, shared = 0) {
      for (std::int64_t i = row_indptr[row] + shared; i < row_indptr[row + 1]; ++i)
        page_indices.push_back(pages[static_cast<std::size_t>(i)]);
      page_indptr.push_back(std::ssize(page_indices));
    }
    group_indptr.push_back(static_cast<std::int64_t>(row));
  }
  TensorList inputs;
  for (NamedTensor& input : dense) {
    if (input.name == "page_indptr") break;  // what follows is the table of unshared rows
    inputs.push_back(std::move(input));
  }
  inputs.push_back({"group_indptr", tensor_of(group_indptr)});
  inputs.push_back({"prefix_indptr", tensor_of(prefix_indptr)});
  inputs.push_back({"prefix_indices", tensor_of(prefix_indices)});
  inputs.push_back({"page_indptr", tensor_of(page_indptr)});
  inputs.push_back({"page_indices", tensor_of(page_indices)});
  for (const char* name : {"last_page_len", "first_page_offset"})
    inputs.push_back({name, std::move(find(dense, name))});
  return inputs;
}

CascadeTable cascade_table(const TensorList& inputs) {
  return {.group_indptr = find(inputs, "group_indptr"),
          .prefix_indptr = find(inputs, "prefix_indptr"),
          .prefix_indices = find(inputs, "prefix_indices"),
          .page_indptr = find(inputs, "page_indptr"),
          .page_indices = find(inputs, "page_indices"),
          .last_page_len = find(inputs, "last_page_len"),
          .first_page_offset = find(inputs, "first_page_offset")};
}

}  // namespace parity
