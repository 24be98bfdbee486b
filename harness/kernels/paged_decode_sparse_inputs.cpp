// Selections of the operation paged_decode_sparse: datasets/SCHEMA.md says the same for other
// languages.
#include "harness/kernels/paged_decode_sparse_inputs.hpp"

#include <utility>

#include "datasets/fill.hpp"
#include "harness/kernels/paged_decode_input_types.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"

namespace parity {
namespace {

/// What a list selects of its row; the number of the list modulo 4.
enum class Choice : std::int64_t { half, all, last, none };

/// Of recipe `nan`, tokens up to that which holds a special value are always selected.
constexpr std::int64_t kSpecialToken = 2;

std::int64_t integer(const Tensor& tensor, std::int64_t index) {
  return static_cast<std::int64_t>(tensor.at(index));
}

Tensor integers(const std::vector<double>& values) {
  Tensor result(Dtype::i32, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i)
    result.set(static_cast<std::int64_t>(i), values[i]);
  return result;
}

}  // namespace

std::vector<std::int64_t> selected_tokens(const Case& c, std::int64_t list, std::int64_t tokens) {
  const bool special = c.recipe == "nan";
  const Choice choice = special ? Choice::half : static_cast<Choice>(list % 4);
  const std::uint64_t seed = c.data_seed();
  const std::uint32_t stream = stream_of("selection");
  std::vector<std::int64_t> selected;
  for (std::int64_t token = 0; token < tokens && choice != Choice::none; ++token) {
    const auto index = (static_cast<std::uint64_t>(list) << 32) + static_cast<std::uint64_t>(token);
    const bool by_chance = choice == Choice::half && random_word(seed, stream, index) % 2 == 1;
    if (choice == Choice::all || token == tokens - 1 || by_chance ||
        (special && token <= kSpecialToken))
      selected.push_back(token);
  }
  return selected;
}

std::vector<InputType> paged_decode_sparse_input_types(const Case& c) {
  const std::vector<PagedRow> rows = paged_decode_rows(c.recipe, c.constant("page"));
  const std::int64_t kv_heads = c.constant("hkv");
  const std::int64_t lists = std::ssize(rows) * kv_heads;
  std::int64_t selected = 0;
  for (std::int64_t list = 0; list < lists; ++list) {
    const std::int64_t tokens = pages_of(rows[static_cast<std::size_t>(list / kv_heads)], 1);
    selected += std::ssize(selected_tokens(c, list, tokens));
  }
  std::vector<InputType> types = paged_decode_tensor_types(c);
  types.push_back(integers_type("page_indptr", lists + 1));
  types.push_back(integers_type("page_indices", selected));
  return types;
}

TensorList paged_decode_sparse_inputs(const Case& c) {
  TensorList dense = paged_decode_inputs(c);
  const Tensor row_indptr = find(dense, "page_indptr");
  const Tensor row_slots = find(dense, "page_indices");
  std::vector<double> indptr = {0};
  std::vector<double> indices;
  for (std::int64_t row = 0; row + 1 < row_indptr.elements(); ++row) {
    const std::int64_t begin = integer(row_indptr, row);
    const std::int64_t tokens = integer(row_indptr, row + 1) - begin;
    for (std::int64_t kv_head = 0; kv_head < c.constant("hkv"); ++kv_head) {
      for (const std::int64_t token : selected_tokens(c, row * c.constant("hkv") + kv_head, tokens))
        indices.push_back(row_slots.at(begin + token));
      indptr.push_back(static_cast<double>(indices.size()));
    }
  }
  TensorList inputs;
  for (NamedTensor& input : dense) {
    if (input.name == "page_indptr") break;  // what follows is the dense page table
    inputs.push_back(std::move(input));
  }
  inputs.push_back({"page_indptr", integers(indptr)});
  inputs.push_back({"page_indices", integers(indices)});
  return inputs;
}

}  // namespace parity
