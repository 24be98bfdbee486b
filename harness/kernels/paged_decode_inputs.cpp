// Recipes of the operation paged_decode: datasets/SCHEMA.md says the same for other languages.
#include "harness/kernels/paged_decode_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "datasets/errors.hpp"
#include "datasets/fill.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
/// Pages that belong to no row.
constexpr std::int64_t kSparePages = 2;

/// The multiple of the page size nearest below `tokens`, at least one page.
std::int64_t whole_pages(std::int64_t tokens, std::int64_t page_size) {
  return page_size * std::max<std::int64_t>(1, tokens / page_size);
}

/// A row's place in the page table.
struct RowPages {
  std::int64_t begin = 0;  ///< in page_indices
  std::int64_t pages = 0;
  std::int64_t last_page_len = 0;
};

/// The pool of a case and which of its slots are whose.
class Layout {
 public:
  Layout(std::vector<PagedRow> rows, std::int64_t page_size, std::uint64_t seed)
      : rows_(std::move(rows)), page_size_(page_size) {
    for (const PagedRow& row : rows_) {
      const std::int64_t slots = row.tokens == 0 ? 0 : row.first_page_offset + row.tokens;
      const std::int64_t pages = (slots + page_size - 1) / page_size;
      pages_.push_back({used_, pages, pages == 0 ? 0 : slots - (pages - 1) * page_size});
      used_ += pages;
    }
    shuffle(seed);
  }

  std::int64_t page_count() const { return used_ + kSparePages; }
  std::int64_t used_pages() const { return used_; }
  const std::vector<PagedRow>& rows() const { return rows_; }
  const RowPages& pages_of(std::size_t row) const { return pages_[row]; }
  std::int64_t page(std::int64_t index) const { return order_[static_cast<std::size_t>(index)]; }

  /// page · page_size + slot of a row's token.
  std::int64_t slot_of(std::size_t row, std::int64_t token) const {
    const std::int64_t position = rows_[row].first_page_offset + token;
    return page(pages_[row].begin + position / page_size_) * page_size_ + position % page_size_;
  }

 private:
  void shuffle(std::uint64_t seed) {
    order_.resize(static_cast<std::size_t>(page_count()));
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
    const std::uint32_t stream = stream_of("page_indices");
    for (std::size_t i = order_.size() - 1; i > 0; --i)
      std::swap(order_[i], order_[random_word(seed, stream, i) % (i + 1)]);
  }

  std::vector<PagedRow> rows_;
  std::int64_t page_size_;
  std::vector<RowPages> pages_;
  std::int64_t used_ = 0;
  std::vector<std::int64_t> order_;
};

Tensor integers(std::size_t count, const std::function<std::int64_t(std::size_t)>& value) {
  Tensor result(Dtype::i32, {static_cast<std::int64_t>(count)});
  for (std::size_t i = 0; i < count; ++i)
    result.set(static_cast<std::int64_t>(i), static_cast<double>(value(i)));
  return result;
}

/// The element d of token's k or v for one kv head.
std::int64_t element(const Case& c, std::int64_t slot, std::int64_t kv_head, std::int64_t d) {
  return (slot * c.constant("hkv") + kv_head) * c.constant("d") + d;
}

void fill_unattended(Tensor& pages, const Case& c, const Layout& layout) {
  constexpr std::array kGarbage = {kNan, kInfinity, 6e4};
  const std::int64_t slots = layout.page_count() * c.constant("page");
  std::vector<bool> attended(static_cast<std::size_t>(slots));
  for (std::size_t row = 0; row < layout.rows().size(); ++row)
    for (std::int64_t t = 0; t < layout.rows()[row].tokens; ++t)
      attended[static_cast<std::size_t>(layout.slot_of(row, t))] = true;
  const std::int64_t width = c.constant("hkv") * c.constant("d");
  for (std::int64_t i = 0; i < slots * width; ++i)
    if (!attended[static_cast<std::size_t>(i / width)])
      pages.set(i, kGarbage[static_cast<std::size_t>(i) % kGarbage.size()]);
}

/// k of a row's last token becomes a multiple of q, so that leaving it out is seen at any length.
void place_needles(Tensor& k_pages, const Tensor& q, const Case& c, const Layout& layout) {
  const std::int64_t d = c.constant("d");
  const std::int64_t group = c.constant("hq") / c.constant("hkv");
  for (std::size_t row = 0; row < layout.rows().size(); ++row) {
    const std::int64_t tokens = layout.rows()[row].tokens;
    if (tokens == 0) continue;
    const double factor = ln_of(static_cast<std::uint64_t>(tokens)) /
                          (double{paged_decode_scale(c)} * static_cast<double>(d));
    for (std::int64_t kv_head = 0; kv_head < c.constant("hkv"); ++kv_head)
      for (std::int64_t i = 0; i < d; ++i) {
        const std::int64_t head =
            static_cast<std::int64_t>(row) * c.constant("hq") + kv_head * group;
        k_pages.set(element(c, layout.slot_of(row, tokens - 1), kv_head, i),
                    factor * q.at(head * d + i));
      }
  }
}

/// An infinity in k that gives the first query head of `row` the score -inf.
double towards_minus_infinity(const Tensor& q, const Case& c, std::int64_t row, std::int64_t i) {
  return std::copysign(kInfinity, -q.at(row * c.constant("hq") * c.constant("d") + i));
}

/// One element of kv head 0: token 2 of rows 0 to 3, and every token of row 4, whose first query
/// head then has nothing but scores of -inf.
void place_special_values(Tensor& k_pages, Tensor& v_pages, const Tensor& q, const Case& c,
                          const Layout& layout) {
  constexpr std::int64_t kToken = 2;
  k_pages.set(element(c, layout.slot_of(0, kToken), 0, 1), kNan);
  k_pages.set(element(c, layout.slot_of(1, kToken), 0, 1), towards_minus_infinity(q, c, 1, 1));
  v_pages.set(element(c, layout.slot_of(2, kToken), 0, 3), kNan);
  v_pages.set(element(c, layout.slot_of(3, kToken), 0, 5), kInfinity);
  for (std::int64_t t = 0; t < layout.rows()[4].tokens; ++t)
    k_pages.set(element(c, layout.slot_of(4, t), 0, 1), towards_minus_infinity(q, c, 4, 1));
}

}  // namespace

std::vector<std::string> paged_decode_recipes() {
  return {"ragged", "exact", "offset", "short", "empty", "nan", "long"};
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
  if (recipe == "long") return {{2311, most}, {1, 0}, {1031, half}};
  throw UsageError(fmt::format("paged_decode has no recipe '{}'; known: {}", recipe,
                               fmt::join(paged_decode_recipes(), ", ")));
}

bool paged_decode_valid(const Case& c) {
  const std::int64_t d = c.constant("d");
  const std::int64_t kv_heads = c.constant("hkv");
  const std::int64_t heads = c.constant("hq");
  // The upper ends bound what a mistyped id may ask of memory, not what the kernel can do.
  constexpr std::int64_t kMost = 4096;
  return d >= 8 && d <= 256 && d % 8 == 0 && kv_heads >= 1 && heads >= 1 && heads <= kMost &&
         heads % kv_heads == 0 && c.constant("page") >= 1 && c.constant("page") <= kMost;
}

float paged_decode_scale(const Case& c) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(c.constant("d"))));
}

TensorList paged_decode_inputs(const Case& c) {
  require_valid(c);
  const std::int64_t page_size = c.constant("page");
  const std::uint64_t seed = c.data_seed();
  const Layout layout(paged_decode_rows(c.recipe, page_size), page_size, seed);
  const std::size_t batch = layout.rows().size();
  const Shape pool = {layout.page_count(), page_size, c.constant("hkv"), c.constant("d")};

  Tensor q(c.dtype("q"), {static_cast<std::int64_t>(batch), c.constant("hq"), c.constant("d")});
  Tensor k_pages(c.dtype("k"), pool);
  Tensor v_pages(c.dtype("v"), pool);
  fill_normal(q, seed, "q");
  fill_normal(k_pages, seed, "k_pages");
  fill_normal(v_pages, seed, "v_pages");
  fill_unattended(k_pages, c, layout);
  fill_unattended(v_pages, c, layout);
  place_needles(k_pages, q, c, layout);
  if (c.recipe == "nan") place_special_values(k_pages, v_pages, q, c, layout);

  TensorList inputs;
  inputs.push_back({"q", std::move(q)});
  inputs.push_back({"k_pages", std::move(k_pages)});
  inputs.push_back({"v_pages", std::move(v_pages)});
  inputs.push_back({"page_indptr", integers(batch + 1, [&](std::size_t row) {
                      return row < batch ? layout.pages_of(row).begin : layout.used_pages();
                    })});
  inputs.push_back(
      {"page_indices", integers(static_cast<std::size_t>(layout.used_pages()), [&](std::size_t i) {
         return layout.page(static_cast<std::int64_t>(i));
       })});
  inputs.push_back({"last_page_len", integers(batch, [&](std::size_t row) {
                      return layout.pages_of(row).last_page_len;
                    })});
  inputs.push_back({"first_page_offset", integers(batch, [&](std::size_t row) {
                      return layout.rows()[row].first_page_offset;
                    })});
  return inputs;
}

}  // namespace parity
