// Recipes of the operation split_kv_merge: datasets/SCHEMA.md says the same for other languages.
#include "harness/kernels/split_kv_merge_inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "datasets/errors.hpp"
#include "datasets/fill.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
/// Partials that belong to no row.
constexpr std::int64_t kSparePartials = 2;
/// Wide enough that weights differ, narrow enough that several of a row's partials matter.
constexpr double kLseScale = 4.0;

double garbage(std::int64_t index) {
  constexpr std::array kGarbage = {kNan, kInfinity, 6e4};
  return kGarbage[static_cast<std::size_t>(index) % kGarbage.size()];
}

/// A partial by its row and its place in it.
struct Partial {
  std::int64_t row, j, partials_of_row;
};

/// Whether it attended to nothing in this head: lse -inf.
bool is_empty(std::string_view recipe, const Partial& partial, std::int64_t head) {
  if (recipe == "empty") return true;
  if (recipe == "nan" && head == 0) {
    if (partial.row == 4) return true;
    if (partial.row == 5) return partial.j != 1;
  }
  return partial.partials_of_row >= 3 && (partial.j + head) % 3 == 0;
}

/// The tensors of a case in the making.
struct Draft {
  const Case& c;
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> begins;  ///< o_indptr
  Tensor v;
  Tensor lse;

  std::int64_t heads() const { return c.constant("h"); }
  std::int64_t place(std::int64_t row, std::int64_t j, std::int64_t head) const {
    return (begins[static_cast<std::size_t>(row)] + j) * heads() + head;
  }
  void spoil_v(std::int64_t place) {
    const std::int64_t d = c.constant("d");
    for (std::int64_t i = place * d; i < (place + 1) * d; ++i) v.set(i, garbage(i));
  }
};

void place_empty_partials(Draft& draft) {
  for (std::int64_t row = 0; row < std::ssize(draft.rows); ++row) {
    const std::int64_t partials = draft.rows[static_cast<std::size_t>(row)];
    for (std::int64_t j = 0; j < partials; ++j)
      for (std::int64_t head = 0; head < draft.heads(); ++head) {
        if (!is_empty(draft.c.recipe, {row, j, partials}, head)) continue;
        draft.lse.set(draft.place(row, j, head), -kInfinity);
        draft.spoil_v(draft.place(row, j, head));
      }
  }
}

void place_spare_partials(Draft& draft) {
  for (std::int64_t i = draft.begins.back() * draft.heads(); i < draft.lse.elements(); ++i) {
    draft.lse.set(i, garbage(i));
    draft.spoil_v(i);
  }
}

/// The last partial that attended to anything outweighs any other, so that leaving it out is seen
/// at any number of partials.
void place_needles(Draft& draft) {
  for (std::int64_t row = 0; row < std::ssize(draft.rows); ++row)
    for (std::int64_t head = 0; head < draft.heads(); ++head) {
      double largest = -kInfinity;
      std::int64_t last = -1;
      for (std::int64_t j = 0; j < draft.rows[static_cast<std::size_t>(row)]; ++j) {
        const std::int64_t place = draft.place(row, j, head);
        if (draft.lse.at(place) == -kInfinity) continue;
        if (last >= 0) largest = std::max(largest, draft.lse.at(last));
        last = place;
      }
      if (largest > -kInfinity) draft.lse.set(last, largest + 1.0);
    }
}

/// In head 0, of partials that the recipe `nan` does not leave empty.
void place_special_values(Draft& draft) {
  const std::int64_t d = draft.c.constant("d");
  draft.lse.set(draft.place(0, 1, 0), kNan);
  draft.lse.set(draft.place(1, 2, 0), kInfinity);
  draft.v.set(draft.place(2, 1, 0) * d + 3, kNan);
  draft.v.set(draft.place(3, 1, 0) * d + 5, kInfinity);
  draft.lse.set(draft.place(5, 1, 0), kNan);
}

Tensor integers(const std::vector<std::int64_t>& values) {
  Tensor result(Dtype::i32, {std::ssize(values)});
  for (std::int64_t i = 0; i < result.elements(); ++i)
    result.set(i, static_cast<double>(values[static_cast<std::size_t>(i)]));
  return result;
}

}  // namespace

std::vector<std::string> split_kv_merge_recipes() {
  return {"ragged", "single", "empty", "nan", "many"};
}

std::vector<std::string> split_kv_merge_degenerate_recipes() {
  return {"empty", "nan"};
}

std::vector<std::int64_t> split_kv_merge_rows(std::string_view recipe) {
  if (recipe == "ragged") return {3, 0, 1, 7, 2};
  if (recipe == "single") return {1, 1, 1, 1, 1};
  if (recipe == "empty") return {0, 3, 1, 0};
  if (recipe == "nan") return {4, 4, 4, 4, 3, 3};
  if (recipe == "many") return {3301, 1, 0, 37};
  throw UsageError(fmt::format("split_kv_merge has no recipe '{}'; known: {}", recipe,
                               fmt::join(split_kv_merge_recipes(), ", ")));
}

bool split_kv_merge_valid(const Case& c) {
  const std::int64_t d = c.constant("d");
  const std::int64_t heads = c.constant("h");
  // The upper end bounds what a mistyped id may ask of memory, not what the kernel can do.
  constexpr std::int64_t kMostHeads = 4096;
  return d >= 8 && d <= 256 && d % 8 == 0 && heads >= 1 && heads <= kMostHeads;
}

std::vector<InputType> split_kv_merge_input_types(const Case& c) {
  const std::vector<std::int64_t> rows = split_kv_merge_rows(c.recipe);
  const std::int64_t partials = std::accumulate(rows.begin(), rows.end(), kSparePartials);
  const std::int64_t heads = c.constant("h");
  return {{"v", {c.dtype("v"), {partials, heads, c.constant("d")}}},
          {"lse", {Dtype::f32, {partials, heads}}},
          {"o_indptr", {Dtype::i32, {std::ssize(rows) + 1}}}};
}

TensorList split_kv_merge_inputs(const Case& c) {
  require_valid(c);
  std::vector<std::int64_t> rows = split_kv_merge_rows(c.recipe);
  std::vector<std::int64_t> begins = {0};
  for (const std::int64_t partials : rows) begins.push_back(begins.back() + partials);
  const std::int64_t partials = begins.back() + kSparePartials;
  Draft draft{.c = c,
              .rows = std::move(rows),
              .begins = std::move(begins),
              .v = Tensor(c.dtype("v"), {partials, c.constant("h"), c.constant("d")}),
              .lse = Tensor(Dtype::f32, {partials, c.constant("h")})};
  fill_normal(draft.v, c.data_seed(), "v");
  fill_normal(draft.lse, c.data_seed(), "lse", kLseScale);
  place_empty_partials(draft);
  place_needles(draft);
  place_spare_partials(draft);
  if (c.recipe == "nan") place_special_values(draft);

  TensorList inputs;
  inputs.push_back({"v", std::move(draft.v)});
  inputs.push_back({"lse", std::move(draft.lse)});
  inputs.push_back({"o_indptr", integers(draft.begins)});
  return inputs;
}

}  // namespace parity
