// Copies page numbers, row by row.
#include "reference/paged_decode_cascade.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"

namespace parity {
namespace {

template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> format, Parts&&... parts) {
  throw UsageError("paged decode cascade reference: " +
                   fmt::format(format, std::forward<Parts>(parts)...));
}

std::int64_t integer(const Tensor& tensor, std::int64_t index) {
  return static_cast<std::int64_t>(tensor.at(index));
}

void require_type(std::string_view name, const Tensor& tensor, std::int64_t elements) {
  const TensorType want{Dtype::i32, {elements}};
  if (tensor.type() != want)
    refuse("{} is {}, but must be {}", name, tensor.type().to_string(), want.to_string());
}

void check(const CascadeTable& table) {
  const std::int64_t rows = table.last_page_len.elements();
  const std::int64_t groups = table.group_indptr.elements() - 1;
  require_type("group_indptr", table.group_indptr, table.group_indptr.elements());
  if (groups < 0 || integer(table.group_indptr, groups) != rows)
    refuse("group_indptr is {}, but must end at the {} rows", table.group_indptr.type().to_string(),
           rows);
  require_type("prefix_indptr", table.prefix_indptr, groups + 1);
  require_type("prefix_indices", table.prefix_indices, table.prefix_indices.elements());
  require_type("page_indptr", table.page_indptr, rows + 1);
  require_type("page_indices", table.page_indices, table.page_indices.elements());
  require_type("last_page_len", table.last_page_len, rows);
  require_type("first_page_offset", table.first_page_offset, rows);
}

/// Appends the pages of one list and says how many they are.
std::int64_t append(std::string_view name, const Tensor& indptr, const Tensor& indices,
                    std::int64_t list, std::vector<double>& pages) {
  const std::int64_t begin = integer(indptr, list), end = integer(indptr, list + 1);
  if (begin < 0 || end < begin || end > indices.elements())
    refuse("{} {} is {}..{} of {} indices", name, list, begin, end, indices.elements());
  for (std::int64_t i = begin; i < end; ++i) pages.push_back(indices.at(i));
  return end - begin;
}

}  // namespace

FlatPageTable flatten(const CascadeTable& table, std::int64_t page_size) {
  check(table);
  FlatPageTable flat{
      Tensor(table.page_indptr.type()), {}, table.last_page_len, table.first_page_offset};
  std::vector<double> pages;
  for (std::int64_t group = 0; group + 1 < table.group_indptr.elements(); ++group) {
    const std::int64_t end = integer(table.group_indptr, group + 1);
    for (std::int64_t row = integer(table.group_indptr, group); row < end; ++row) {
      const std::int64_t shared =
          append("prefix_indptr of group", table.prefix_indptr, table.prefix_indices, group, pages);
      const std::int64_t own =
          append("page_indptr of row", table.page_indptr, table.page_indices, row, pages);
      if (shared > 0 && integer(table.first_page_offset, row) != 0)
        refuse("first_page_offset of row {} is {} behind a prefix", row,
               integer(table.first_page_offset, row));
      if (own == 0 && shared > 0) flat.last_page_len.set(row, static_cast<double>(page_size));
      flat.page_indptr.set(row + 1, static_cast<double>(pages.size()));
    }
  }
  flat.page_indices = Tensor(Dtype::i32, {static_cast<std::int64_t>(pages.size())});
  for (std::size_t i = 0; i < pages.size(); ++i)
    flat.page_indices.set(static_cast<std::int64_t>(i), pages[i]);
  return flat;
}

}  // namespace parity
