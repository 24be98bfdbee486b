// Input data of the operation paged_decode: datasets/SCHEMA.md says the same for other languages.
#include "harness/kernels/paged_decode_inputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "datasets/fill.hpp"
#include "harness/kernels/paged_decode_layout.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A row's place in the page table.
struct RowPages {
  std::int64_t begin = 0;  ///< in page_indices
  std::int64_t pages = 0;
  std::int64_t last_page_len = 0;
};

/// The pages of a case and which of their slots are whose.
class PageMap {
 public:
  PageMap(std::vector<PagedRow> rows, std::int64_t page_size, std::int64_t window,
          std::uint64_t seed)
      : rows_(std::move(rows)), page_size_(page_size), window_(window) {
    for (const PagedRow& row : rows_) {
      const std::int64_t pages = parity::pages_of(row, page_size);
      const std::int64_t slots = row.first_page_offset + row.tokens;
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

  /// Tokens of a row that are attended: its last ones.
  std::int64_t attended(std::size_t row) const {
    const std::int64_t tokens = rows_[row].tokens;
    return window_ == 0 ? tokens : std::min(window_, tokens);
  }

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
  std::int64_t window_;
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

/// The element d of a token's k or v for one kv head, in tensors [pages, page, hkv, d].
std::int64_t element(const Case& c, std::int64_t slot, std::int64_t kv_head, std::int64_t d) {
  return (slot * c.constant("hkv") + kv_head) * c.constant("d") + d;
}

/// k of a row's last token, and of the one just outside its window, becomes a multiple of q, so
/// that a token more or less is seen at any length.
void place_needles(Tensor& k, const Tensor& q, const Case& c, const PageMap& map) {
  const std::int64_t d = c.constant("d");
  const std::int64_t group = c.constant("hq") / c.constant("hkv");
  const double k_scale = paged_decode_scales(c).k;
  for (std::size_t row = 0; row < map.rows().size(); ++row) {
    const std::int64_t tokens = map.rows()[row].tokens;
    const std::int64_t attended = map.attended(row);
    if (tokens == 0) continue;
    const double factor = ln_of(static_cast<std::uint64_t>(attended)) /
                          (double{paged_decode_scale(c)} * static_cast<double>(d)) / k_scale;
    for (const std::int64_t token : {tokens - 1, tokens - attended - 1})
      for (std::int64_t kv_head = 0; token >= 0 && kv_head < c.constant("hkv"); ++kv_head)
        for (std::int64_t i = 0; i < d; ++i) {
          const std::int64_t head =
              static_cast<std::int64_t>(row) * c.constant("hq") + kv_head * group;
          k.set(element(c, map.slot_of(row, token), kv_head, i), factor * q.at(head * d + i));
        }
  }
}

/// An infinity in k that gives the first query head of `row` the score -inf.
double towards_minus_infinity(const Tensor& q, const Case& c, std::int64_t row, std::int64_t i) {
  return std::copysign(kInfinity, -q.at(row * c.constant("hq") * c.constant("d") + i));
}

/// One element of kv head 0: the third attended token (or the last, where there are fewer) of rows
/// 0 to 3, and every token of row 4, whose first query head then has nothing but scores of -inf.
void place_special_values(Tensor& k, Tensor& v, const Tensor& q, const Case& c,
                          const PageMap& map) {
  const auto at = [&](std::size_t row, std::int64_t i) {
    const std::int64_t attended = map.attended(row);
    const std::int64_t token =
        map.rows()[row].tokens - attended + std::min<std::int64_t>(2, attended - 1);
    return element(c, map.slot_of(row, token), 0, i);
  };
  k.set(at(0, 1), kNan);
  k.set(at(1, 1), towards_minus_infinity(q, c, 1, 1));
  v.set(at(2, 3), kNan);
  v.set(at(3, 5), kInfinity);
  for (std::int64_t t = 0; t < map.rows()[4].tokens; ++t)
    k.set(element(c, map.slot_of(4, t), 0, 1), towards_minus_infinity(q, c, 4, 1));
}

/// Copies a pool [pages, page, hkv, d] to its place, d elements at a time.
void lay_out(const Tensor& pool, const PoolPlace& place, Tensor& tensor) {
  const Shape& shape = pool.shape();
  const std::size_t size = size_of(pool.dtype());
  const std::size_t length = static_cast<std::size_t>(shape[3]) * size;
  auto from = pool.bytes();
  for (std::int64_t page = 0; page < shape[0]; ++page)
    for (std::int64_t slot = 0; slot < shape[1]; ++slot)
      for (std::int64_t head = 0; head < shape[2]; ++head, from = from.subspan(length))
        std::ranges::copy(from.first(length),
                          tensor.bytes()
                              .subspan(static_cast<std::size_t>(place.at(page, slot, head)) * size)
                              .begin());
}

/// Numbers of the runs of d elements, of all in the tensor, that hold a row's token.
std::vector<bool> runs_of_tokens(const Case& c, const PageMap& map, const Tensor& tensor,
                                 const std::vector<PoolPlace>& places) {
  const std::int64_t page_size = c.constant("page");
  const std::int64_t kv_heads = c.constant("hkv");
  const std::int64_t d = c.constant("d");
  std::vector<bool> runs(static_cast<std::size_t>(tensor.elements() / d));
  for (std::size_t row = 0; row < map.rows().size(); ++row)
    for (std::int64_t t = 0; t < map.rows()[row].tokens; ++t) {
      const std::int64_t slot = map.slot_of(row, t);
      for (const PoolPlace& place : places)
        for (std::int64_t head = 0; head < kv_heads; ++head)
          runs[static_cast<std::size_t>(place.at(slot / page_size, slot % page_size, head) / d)] =
              true;
    }
  return runs;
}

/// All that holds no row's token: unused slots, spare pages, padding.
void fill_unattended(const Case& c, const PageMap& map, Tensor& tensor,
                     const std::vector<PoolPlace>& places) {
  // e4m3 has no infinity and 448 at most: beyond, its conversion gives NaN.
  const std::array garbage = {kNan, kInfinity, tensor.dtype() == Dtype::e4m3 ? 448.0 : 6e4};
  const std::int64_t d = c.constant("d");
  std::int64_t begin = 0;
  for (const bool holds_token : runs_of_tokens(c, map, tensor, places)) {
    for (std::int64_t i = begin; !holds_token && i < begin + d; ++i)
      tensor.set(i, garbage[static_cast<std::size_t>(i) % garbage.size()]);
    begin += d;
  }
}

/// The pools in the tensors that the case's layout has for them.
TensorList pool_tensors(const Case& c, const PageMap& map, Tensor k, Tensor v) {
  const PageLayout layout = page_layout(c);
  const Shape shape = pool_shape(c, map.page_count());
  TensorList tensors;
  std::vector<std::vector<PoolPlace>> places;
  for (const auto& [pool, content] : {std::pair{Pool::k, &k}, {Pool::v, &v}}) {
    const PoolPlace place = pool_place(layout, pool, shape);
    if (tensors.empty() || tensors.back().name != place.tensor) {
      const bool as_it_is = content->shape() == shape && layout == PageLayout::nhd;
      tensors.push_back({std::string(place.tensor),
                         as_it_is ? std::move(*content) : Tensor(content->dtype(), shape)});
      places.push_back({place});
      if (as_it_is) continue;
    } else {
      places.back().push_back(place);
    }
    lay_out(*content, place, tensors.back().tensor);
  }
  for (std::size_t i = 0; i < tensors.size(); ++i)
    fill_unattended(c, map, tensors[i].tensor, places[i]);
  return tensors;
}

}  // namespace

float paged_decode_scale(const Case& c) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(c.constant("d"))));
}

PagedDecodeScales paged_decode_scales(const Case& c) {
  PagedDecodeScales scales;
  if (size_of(c.dtype("k")) == 1) scales.k = 0.8125F;
  if (size_of(c.dtype("v")) == 1) scales.v = 1.1875F;
  return scales;
}

TensorList paged_decode_inputs(const Case& c) {
  require_valid(c);
  const std::int64_t page_size = c.constant("page");
  const std::uint64_t seed = c.data_seed();
  const PageMap map(paged_decode_rows(c.recipe, page_size), page_size, c.constant("window"), seed);
  const std::size_t batch = map.rows().size();
  const Shape pool = {map.page_count(), page_size, c.constant("hkv"), c.constant("d")};

  Tensor q(c.dtype("q"), {static_cast<std::int64_t>(batch), c.constant("hq"), c.constant("d")});
  Tensor k(c.dtype("k"), pool);
  Tensor v(c.dtype("v"), pool);
  fill_normal(q, seed, "q");
  fill_normal(k, seed, "k_pages");
  fill_normal(v, seed, "v_pages");
  place_needles(k, q, c, map);
  if (c.recipe == "nan") place_special_values(k, v, q, c, map);

  TensorList inputs;
  inputs.push_back({"q", std::move(q)});
  for (NamedTensor& pages : pool_tensors(c, map, std::move(k), std::move(v)))
    inputs.push_back(std::move(pages));
  inputs.push_back({"page_indptr", integers(batch + 1, [&](std::size_t row) {
                      return row < batch ? map.pages_of(row).begin : map.used_pages();
                    })});
  inputs.push_back(
      {"page_indices", integers(static_cast<std::size_t>(map.used_pages()), [&](std::size_t i) {
         return map.page(static_cast<std::int64_t>(i));
       })});
  inputs.push_back({"last_page_len", integers(batch, [&](std::size_t row) {
                      return map.pages_of(row).last_page_len;
                    })});
  inputs.push_back({"first_page_offset", integers(batch, [&](std::size_t row) {
                      return map.rows()[row].first_page_offset;
                    })});
  return inputs;
}

}  // namespace parity
