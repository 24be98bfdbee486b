// Cutting prefixes and suffixes into blocks, and numbering their partial results.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "datasets/errors.hpp"
#include "device/ceil_divide.hpp"
#include "device/paged_decode_cascade.hpp"
#include "device/partials.hpp"

namespace parity {
namespace {

using Indptr = std::vector<std::int32_t>;

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

std::int64_t length(const Indptr& indptr, std::size_t i) {
  return std::int64_t{indptr[i + 1]} - indptr[i];
}

/// What a level is cut from: sets of rows that share a list of pages.
struct Sets {
  const Indptr& pages;       ///< [sets+1]
  const Indptr& rows;        ///< [sets+1]
  std::int64_t least;        ///< chunks of a set without pages
  PagedDecodeChoice choice;  ///< of the level's module
};

/// `heads`: of one kv head.
CascadeLevel cut_level(const Sets& sets, std::int64_t heads, std::int64_t pages_per_chunk) {
  const std::int64_t bucket = HeadBlocks::of(sets.choice.group_size).bucket;
  CascadeLevel level{pages_per_chunk, {}};
  for (std::size_t set = 0; set + 1 < sets.pages.size(); ++set) {
    const std::int64_t chunks =
        std::max(sets.least, ceil_divide(length(sets.pages, set), pages_per_chunk));
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      for (std::int64_t head = 0; head < length(sets.rows, set) * heads; head += bucket)
        level.tiles.push_back(
            {static_cast<int>(set), static_cast<int>(chunk), static_cast<int>(head)});
  }
  return level;
}

/// The pages per chunk that suit the level, by what split_rows holds of such rows.
std::int64_t choose(const Sets& sets, const PagedDecodeArgs& args, const Backend& backend) {
  const PagedDecodeChoice& choice = sets.choice;
  const std::int64_t bucket = HeadBlocks::of(choice.group_size).bucket;
  const std::int64_t heads = args.q.type.shape[1] / args.kv_heads;
  Indptr pages = {0};  // of sets with pages
  std::int64_t blocks = 0;
  for (std::size_t set = 0; set + 1 < sets.pages.size(); ++set) {
    if (length(sets.pages, set) == 0) continue;
    pages.push_back(pages.back() + static_cast<std::int32_t>(length(sets.pages, set)));
    blocks += ceil_divide(length(sets.rows, set) * heads, bucket);
  }
  const std::int64_t mean = ceil_divide(blocks, std::max<std::int64_t>(1, std::ssize(pages) - 1));
  return split_rows(pages, args.page_size, kAutoPagesPerChunk,
                    std::max<std::int64_t>(1, mean) * args.kv_heads, split_device(backend, choice))
      .pages_per_chunk;
}

Indptr numbers(std::int64_t count) {
  Indptr result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

}  // namespace

PagedDecodeCascadePlan::PagedDecodeCascadePlan(Runtime& runtime, const PagedDecodeCascadeArgs& args,
                                               HostCascadeTable table, std::int64_t pages_per_chunk)
    : planned_(args), table_(std::move(table)) {
  check_paged_decode_cascade_args(args);
  check_cascade_table(table_, args);
  cut(pages_per_chunk, runtime.backend());
  number_partials();
  upload(runtime.backend());
}

void PagedDecodeCascadePlan::cut(std::int64_t pages_per_chunk, const Backend& backend) {
  if (pages_per_chunk < 0)
    throw UsageError(fmt::format(
        "paged_decode_cascade: pages_per_chunk is {}, but must be at least 1, or {} to have it "
        "chosen",
        pages_per_chunk, kAutoPagesPerChunk));
  const PagedDecodeArgs& args = planned_.decode;
  const PagedDecodeChoice choice = PagedDecodeChoice::of(args);
  const Indptr row_numbers = numbers(args.q.type.shape[0] + 1);
  const std::array<Sets, 2> sets = {
      {{table_.prefix_indptr, table_.group_indptr, 0, paged_decode_cascade_prefix_choice(choice)},
       {table_.suffix.indptr, row_numbers, 1, choice}}};
  for (std::size_t level = 0; level < sets.size(); ++level) {
    const std::int64_t pages = pages_per_chunk == kAutoPagesPerChunk
                                   ? choose(sets[level], args, backend)
                                   : pages_per_chunk;
    levels_[level] = cut_level(sets[level], choice.group_size, pages);
    if (std::ssize(levels_[level].tiles) > kMost / args.kv_heads)
      throw UsageError(fmt::format(
          "paged_decode_cascade: level {} has {} blocks for each of {} kv heads: more than a grid "
          "of 2^31 - 1 blocks",
          level, levels_[level].tiles.size(), args.kv_heads));
  }
}

void PagedDecodeCascadePlan::number_partials() {
  o_indptr_ = {0};
  std::int64_t partials = 0;
  for (std::size_t group = 0; group + 1 < table_.group_indptr.size(); ++group) {
    const std::int64_t shared =
        ceil_divide(length(table_.prefix_indptr, group), prefixes().pages_per_chunk);
    for (std::int32_t row = table_.group_indptr[group]; row < table_.group_indptr[group + 1];
         ++row) {
      const std::int64_t pages = length(table_.suffix.indptr, static_cast<std::size_t>(row));
      suffix_begin_.push_back(static_cast<std::int32_t>(partials + shared));
      partials +=
          shared + std::max<std::int64_t>(1, ceil_divide(pages, suffixes().pages_per_chunk));
      if (partials > kMost)
        throw UsageError(fmt::format(
            "paged_decode_cascade: rows 0 to {} have {} partials at {} and {} pages per chunk, "
            "more than 2^31 - 1",
            row, partials, prefixes().pages_per_chunk, suffixes().pages_per_chunk));
      o_indptr_.push_back(static_cast<std::int32_t>(partials));
    }
  }
}

void PagedDecodeCascadePlan::upload(Backend& backend) {
  const std::size_t groups = table_.group_indptr.size() - 1;
  Indptr all;
  const auto append = [&](const Indptr& values) {
    const std::size_t at = all.size();
    all.insert(all.end(), values.begin(), values.end());
    return at;
  };
  Indptr prefix_last(groups);
  for (std::size_t group = 0; group < groups; ++group)
    if (length(table_.prefix_indptr, group) > 0)
      prefix_last[group] = static_cast<std::int32_t>(planned_.decode.page_size);
  const std::size_t o_indptr = append(o_indptr_);
  const std::size_t suffix_begin = append(suffix_begin_);
  const std::size_t row_numbers = append(numbers(std::ssize(o_indptr_)));
  const std::size_t last = append(prefix_last);
  const std::size_t first = append(Indptr(groups));
  std::array<std::size_t, 2> tiles = {};
  for (std::size_t level = 0; level < tiles.size(); ++level) {
    tiles[level] = all.size();
    for (const PagedDecodeCascadeTile& tile : levels_[level].tiles)
      all.insert(all.end(), {tile.set, tile.chunk, tile.first_head});
  }
  const auto bytes = std::as_bytes(std::span(all));
  memory_ = DeviceBuffer(backend, bytes.size());
  backend.copy_in(memory_.data(), bytes);
  static_assert(sizeof(PagedDecodeCascadeTile) == 3 * sizeof(std::int32_t));
  auto* const at = static_cast<int*>(memory_.data());
  arrays_ = {at + o_indptr, at + suffix_begin, at + row_numbers, at + last, at + first, {}};
  for (std::size_t level = 0; level < tiles.size(); ++level)
    arrays_.tiles[level] = reinterpret_cast<const PagedDecodeCascadeTile*>(at + tiles[level]);
}

std::int64_t PagedDecodeCascadePlan::workspace_bytes() const {
  const Shape& q = planned_.decode.q.type.shape;
  return needs_merge() ? Partials::bytes(partials(), q[1], q[2]) : 0;
}

void PagedDecodeCascadePlan::require_same_problem(const PagedDecodeCascadeArgs& args) const {
  const auto require = [](std::string_view name, std::int64_t planned, std::int64_t given) {
    if (planned != given)
      throw UsageError(fmt::format(
          "paged_decode_cascade: the plan was made for {} {}, but {} is given; plan again", name,
          planned, given));
  };
  const PagedDecodeArgs& was = planned_.decode;
  const PagedDecodeArgs& is = args.decode;
  for (std::size_t axis = 0; axis < 3; ++axis)
    require(std::array{"rows", "query heads", "head_dim"}[axis], was.q.type.shape[axis],
            is.q.type.shape[axis]);
  require("page_size", was.page_size, is.page_size);
  require("kv_heads", was.kv_heads, is.kv_heads);
  require("pages of k", was.k.pages.type.shape[0], is.k.pages.type.shape[0]);
  require("pages of v", was.v.pages.type.shape[0], is.v.pages.type.shape[0]);
  const auto elements = [](const DeviceTensor& tensor) { return tensor.type.elements(); };
  require("groups", elements(planned_.group_indptr) - 1, elements(args.group_indptr) - 1);
  require("page_indices", elements(was.table.indices), elements(is.table.indices));
  require("prefix_indices", elements(planned_.prefix_indices), elements(args.prefix_indices));
}

void PagedDecodeCascadePlan::require_same_table(const HostCascadeTable& table) const {
  const auto require = [](std::string_view name, const Indptr& planned, const Indptr& given) {
    for (std::size_t i = 0; i < planned.size(); ++i)
      if (planned[i] != given[i])
        throw UsageError(fmt::format(
            "paged_decode_cascade: {}[{}] was {} when it was planned and is {} now; plan again",
            name, i, planned[i], given[i]));
  };
  require("group_indptr", table_.group_indptr, table.group_indptr);
  require("prefix_indptr", table_.prefix_indptr, table.prefix_indptr);
  require("page_indptr", table_.suffix.indptr, table.suffix.indptr);
}

}  // namespace parity
