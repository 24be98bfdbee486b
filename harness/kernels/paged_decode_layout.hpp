// Where each layout of paged decode has the elements of its K and V pools: the one place that says
// it, for inputs, reference and launch alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tensor.hpp"
#include "harness/case.hpp"

namespace parity {

/// Values of axis `layout`; datasets/SCHEMA.md describes them.
enum class PageLayout : std::int64_t { nhd, hnd, interleaved, padded };

/// How ids write them, in the enum's order.
std::vector<std::string> page_layout_words();

PageLayout page_layout(const Case& c);

/// A pool inside an input tensor. Strides and offset count elements, as in device/
/// paged_decode_args.hpp; D elements of one (page, slot, head) lie side by side.
struct PoolPlace {
  std::string_view tensor;  ///< the input that holds it
  std::int64_t pages = 0;
  std::int64_t stride_page = 0;
  std::int64_t stride_slot = 0;
  std::int64_t stride_head = 0;
  std::int64_t offset = 0;

  /// Index of element 0 of a (page, slot, head).
  std::int64_t at(std::int64_t page, std::int64_t slot, std::int64_t head) const {
    return offset + page * stride_page + slot * stride_slot + head * stride_head;
  }
};

enum class Pool : std::uint8_t { k, v };

/// The input that holds a pool: k_pages, v_pages, or kv_pages for both.
std::string_view pool_tensor(PageLayout layout, Pool pool);

/// Shape of the tensor that holds a pool of `pages` pages.
Shape pool_shape(const Case& c, std::int64_t pages);

/// Where the pool lies in a tensor of `shape`, which has as many pages and slots as it says. Throws
/// UsageError for a shape that is not of the layout's rank.
PoolPlace pool_place(PageLayout layout, Pool pool, const Shape& shape);

}  // namespace parity
