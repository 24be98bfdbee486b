// Cutting rows into chunks, and choosing how long a chunk is.
#include "device/split_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "datasets/errors.hpp"
#include "device/ceil_divide.hpp"

namespace parity {
namespace {

/// What a block costs beside its tokens, what a merge costs, and what each partial adds to it, all
/// in tokens of one chunk. Fitted to an H200 (reports/evidence).
constexpr std::int64_t kBlockTokens = 64;
constexpr std::int64_t kMergeTokens = 96;
constexpr std::int64_t kPartialTokens = 1;

class Cost {
 public:
  Cost(const std::vector<std::int32_t>& page_indptr, std::int64_t page_size,
       std::int64_t blocks_per_chunk, const SplitDevice& device)
      : page_size_(page_size),
        blocks_per_chunk_(blocks_per_chunk),
        at_once_(
            std::max<std::int64_t>(1, device.multiprocessors * device.blocks_per_multiprocessor)) {
    for (std::size_t row = 0; row + 1 < page_indptr.size(); ++row) {
      pages_.push_back(std::int64_t{page_indptr[row + 1]} - page_indptr[row]);
      longest_ = std::max(longest_, pages_.back());
    }
  }

  std::int64_t longest() const { return longest_; }

  std::int64_t of(std::int64_t pages_per_chunk) const {
    std::int64_t chunks = 0;
    for (const std::int64_t pages : pages_)
      chunks += std::max<std::int64_t>(1, ceil_divide(pages, pages_per_chunk));
    const std::int64_t waves = ceil_divide(chunks * blocks_per_chunk_, at_once_);
    const std::int64_t partials = ceil_divide(longest_, pages_per_chunk);
    const std::int64_t merge = partials > 1 ? kMergeTokens + partials * kPartialTokens : 0;
    return waves * (pages_per_chunk * page_size_ + kBlockTokens) + merge;
  }

 private:
  std::int64_t page_size_;
  std::int64_t blocks_per_chunk_;
  std::int64_t at_once_;
  std::vector<std::int64_t> pages_;
  std::int64_t longest_ = 0;
};

/// Among the lengths that cut the longest row evenly, the cheapest; of equals the longest.
std::int64_t choose(const Cost& cost) {
  const std::int64_t longest = std::max<std::int64_t>(1, cost.longest());
  std::int64_t best = longest;
  std::int64_t least = cost.of(longest);
  for (std::int64_t length = longest; length > 1;) {
    length = ceil_divide(longest, ceil_divide(longest, length - 1));
    if (const std::int64_t price = cost.of(length); price < least) {
      least = price;
      best = length;
    }
  }
  return best;
}

}  // namespace

SplitPlan split_rows(const std::vector<std::int32_t>& page_indptr, std::int64_t page_size,
                     std::int64_t pages_per_chunk, std::int64_t blocks_per_chunk,
                     const SplitDevice& device) {
  if (pages_per_chunk < 0)
    throw UsageError(fmt::format(
        "paged_decode_v2: pages_per_chunk is {}, but must be at least 1, or {} to have it chosen",
        pages_per_chunk, kAutoPagesPerChunk));
  SplitPlan plan;
  plan.pages_per_chunk = pages_per_chunk;
  if (pages_per_chunk == kAutoPagesPerChunk)
    plan.pages_per_chunk = choose({page_indptr, page_size, blocks_per_chunk, device});
  plan.o_indptr.push_back(0);
  for (std::size_t row = 0; row + 1 < page_indptr.size(); ++row) {
    const std::int64_t pages = std::int64_t{page_indptr[row + 1]} - page_indptr[row];
    const std::int64_t chunks = std::max<std::int64_t>(1, ceil_divide(pages, plan.pages_per_chunk));
    plan.chunk_row.insert(plan.chunk_row.end(), static_cast<std::size_t>(chunks),
                          static_cast<std::int32_t>(row));
    plan.o_indptr.push_back(static_cast<std::int32_t>(plan.chunk_row.size()));
  }
  return plan;
}

}  // namespace parity
