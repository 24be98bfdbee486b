// Recipes of paged decode and their rows: datasets/SCHEMA.md says the same for other languages.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "datasets/errors.hpp"
#include "device/ceil_divide.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"

namespace parity {
namespace {

/// The multiple of the page size nearest below `tokens`, at least one page.
std::int64_t whole_pages(std::int64_t tokens, std::int64_t page_size) {
  return page_size * std::max<std::int64_t>(1, tokens / page_size);
}

}  // namespace

std::vector<std::string> paged_decode_recipes() {
  std::vector<std::string> recipes = {"ragged", "exact", "offset", "short", "empty", "nan", "long"};
  for (std::string& recipe : paged_decode_context_recipes()) recipes.push_back(std::move(recipe));
  return recipes;
}

std::vector<std::string> paged_decode_context_recipes() {
  return {"context", "context32k", "context128k"};
}

std::vector<std::string> paged_decode_degenerate_recipes() {
  return {"empty", "nan"};
}

std::vector<PagedRow> paged_decode_rows(std::string_view recipe, std::int64_t page_size) {
  const std::int64_t half = page_size / 2;
  const std::int64_t most = page_size - 1;
  if (recipe == "ragged")
    return {{37, half}, {0, 0}, {1, most}, {whole_pages(48, page_size), 0}, {29, 0}};
  if (recipe == "exact")
    return {{whole_pages(48, page_size), 0},
            {whole_pages(16, page_size), 0},
            {whole_pages(32, page_size), 0}};
  if (recipe == "offset") return {{7, most}, {41, half}, {19, std::min<std::int64_t>(1, most)}};
  if (recipe == "short") return {{1, 0}, {2, 0}, {3, 0}, {5, 0}};
  if (recipe == "empty") return {{0, 0}, {0, 0}, {0, 0}};
  if (recipe == "nan") return {{9, 0}, {13, half}, {11, 0}, {17, most}, {23, 0}};
  if (recipe == "context") return {{8192, 0}, {1, most}, {517, half}};
  if (recipe == "context32k") return {{32768, 0}};
  if (recipe == "context128k") return {{131072, 0}};
  if (recipe == "long") return {{2311, most}, {1, 0}, {1031, half}};
  // Of paged_decode_cascade.
  if (recipe == "shared")
    return {{whole_pages(48, page_size) + 5, 0}, {13, 0}, {0, 0}, {21, half}, {33, 0}, {1, 0}};
  if (recipe == "prompt") return {{8195, 0}, {1, 0}, {517, 0}, {64, 0}};
  throw UsageError(fmt::format("paged_decode has no recipe '{}'; known: {}", recipe,
                               fmt::join(paged_decode_recipes(), ", ")));
}

std::int64_t pages_of(const PagedRow& row, std::int64_t page_size) {
  if (row.tokens == 0) return 0;
  return ceil_divide(row.first_page_offset + row.tokens, page_size);
}

}  // namespace parity
