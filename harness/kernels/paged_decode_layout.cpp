// Shapes and strides of page layouts.
#include "harness/kernels/paged_decode_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "datasets/errors.hpp"

namespace parity {

std::vector<std::string> page_layout_words() {
  return {"nhd", "hnd", "interleaved", "padded"};
}

PageLayout page_layout(const Case& c) {
  return static_cast<PageLayout>(c.constant("layout"));
}

std::string_view pool_tensor(PageLayout layout, Pool pool) {
  if (layout == PageLayout::interleaved) return "kv_pages";
  return pool == Pool::k ? "k_pages" : "v_pages";
}

Shape pool_shape(const Case& c, std::int64_t pages) {
  const std::int64_t slots = c.constant("page");
  const std::int64_t heads = c.constant("hkv");
  const std::int64_t d = c.constant("d");
  switch (page_layout(c)) {
    case PageLayout::nhd:
      return {pages, slots, heads, d};
    case PageLayout::hnd:
      return {pages, heads, slots, d};
    case PageLayout::interleaved:
      return {pages, 2, slots, heads, d};
    case PageLayout::padded:
      return {pages, slots + 1, heads, d};
  }
  throw UsageError(fmt::format("{} is the number of no page layout", c.constant("layout")));
}

PoolPlace pool_place(PageLayout layout, Pool pool, const Shape& shape) {
  const std::size_t rank = layout == PageLayout::interleaved ? 5 : 4;
  if (shape.size() != rank)
    throw UsageError(fmt::format("a pool of layout {} is [{}], but must be of rank {}",
                                 page_layout_words().at(static_cast<std::size_t>(layout)),
                                 fmt::join(shape, ","), rank));
  const std::int64_t inner = shape[rank - 2] * shape[rank - 1];
  const std::int64_t pool_elements = shape[rank - 3] * inner;
  PoolPlace place{.tensor = pool_tensor(layout, pool),
                  .pages = shape[0],
                  .stride_page = pool_elements,
                  .stride_slot = inner,
                  .stride_head = shape[rank - 1]};
  if (layout == PageLayout::hnd) {
    place.stride_slot = shape[3];
    place.stride_head = inner;
  }
  if (layout == PageLayout::interleaved) {
    place.stride_page = 2 * pool_elements;
    place.offset = pool == Pool::v ? pool_elements : 0;
  }
  return place;
}

}  // namespace parity
