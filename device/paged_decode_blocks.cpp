// Blocks and parameters of paged decode kernels.
#include "device/paged_decode_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "datasets/errors.hpp"
#include "device/argument_checks.hpp"
#include "device/ceil_divide.hpp"

namespace parity {
namespace {

constexpr std::int64_t kMaxBucket = 8;
constexpr std::int64_t kTile = 4;
/// More registers for tokens are there where few are for heads.
constexpr std::int64_t kWideTile = 8;
constexpr std::int64_t kMostHeadsOfWideTile = 2;

/// Division by `divisor` as a multiplication, exact for every dividend below 2^31 (Granlund and
/// Montgomery, "Division by invariant integers using multiplication", 1994).
void set_page_division(PagedDecodeParams& params, std::uint32_t divisor) {
  const auto log = static_cast<std::uint32_t>(std::bit_width(divisor - 1));
  params.page_size = divisor;
  params.page_shift = 31 + log;
  params.page_magic =
      static_cast<std::uint32_t>(((std::uint64_t{1} << params.page_shift) + divisor - 1) / divisor);
}

}  // namespace

HeadBlocks HeadBlocks::of(std::int64_t group) {
  const auto next = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(group)));
  const std::int64_t bucket = std::min(kMaxBucket, next);
  return {group, bucket, ceil_divide(group, bucket)};
}

PagedDecodeChoice PagedDecodeChoice::of(const PagedDecodeArgs& args) {
  const Shape& q = args.q.type.shape;
  return {.q = args.q.type.dtype,
          .out = args.out.type.dtype,
          .k = args.k.pages.type.dtype,
          .v = args.v.pages.type.dtype,
          .head_dim = q[2],
          .group_size = q[1] / args.kv_heads,
          .softcap = args.softcap > 0.0f,
          .tile = args.tile};
}

std::vector<std::int64_t> paged_decode_tiles(std::int64_t group_size) {
  if (group_size > kMostHeadsOfWideTile) return {kTile};
  return {kTile, kWideTile};
}

VariantSpec paged_decode_variant(const std::string& kernel, const PagedDecodeChoice& choice) {
  check_float(kernel, "q", choice.q);
  if (choice.out != Dtype::f32 && choice.out != choice.q)
    throw UsageError(fmt::format("{}: out is {}, but must be q's {} or f32", kernel,
                                 name(choice.out), name(choice.q)));
  check_float_or_fp8(kernel, "k", choice.k);
  check_float_or_fp8(kernel, "v", choice.v);
  check_head_dim(kernel, "head_dim", choice.head_dim);
  if (choice.group_size < 1)
    throw UsageError(
        fmt::format("{}: group_size is {}, but must be at least 1", kernel, choice.group_size));
  const std::vector<std::int64_t> tiles = paged_decode_tiles(choice.group_size);
  if (std::ranges::find(tiles, choice.tile) == tiles.end())
    throw UsageError(fmt::format(
        "{}: tile is {}, but must be {}, or {} where a kv head has at most {} query heads", kernel,
        choice.tile, kTile, kWideTile, kMostHeadsOfWideTile));
  return {.kernel = kernel,
          .constants = {{"D", choice.head_dim},
                        {"GROUP", HeadBlocks::of(choice.group_size).bucket},
                        {"SOFTCAP", choice.softcap ? 1 : 0},
                        {"TILE", choice.tile}},
          .dtypes = {{"q", choice.q}, {"out", choice.out}, {"k", choice.k}, {"v", choice.v}}};
}

std::int64_t paged_decode_blocks_at_once(const PagedDecodeChoice& choice,
                                         std::string_view architecture) {
  return paged_decode_blocks_at_once(
      compute_capability(architecture), static_cast<unsigned>(choice.head_dim),
      static_cast<unsigned>(HeadBlocks::of(choice.group_size).bucket),
      static_cast<unsigned>(size_of(choice.k) + size_of(choice.v)),
      static_cast<unsigned>(choice.tile), choice.softcap);
}

SplitDevice split_device(const Backend& backend, const PagedDecodeChoice& choice) {
  return {.multiprocessors = backend.identity().multiprocessors,
          .blocks_per_multiprocessor =
              paged_decode_blocks_at_once(choice, backend.identity().architecture)};
}

std::uint32_t paged_decode_grid(const std::string& kernel, const PagedDecodeArgs& args,
                                std::int64_t chunks) {
  const HeadBlocks blocks = HeadBlocks::of(args.q.type.shape[1] / args.kv_heads);
  const std::int64_t each = args.kv_heads * blocks.chunks;
  if (chunks > std::numeric_limits<std::int32_t>::max() / each)
    throw UsageError(fmt::format(
        "{}: q has {} rows in {} chunks, {} blocks each: more than a grid of 2^31 - 1 blocks",
        kernel, args.q.type.shape[0], chunks, each));
  return static_cast<std::uint32_t>(chunks * each);
}

PagedDecodeParams paged_decode_params(const PagedDecodeArgs& args, float score_factor) {
  const HeadBlocks blocks = HeadBlocks::of(args.q.type.shape[1] / args.kv_heads);
  PagedDecodeParams params{};
  params.q = args.q.data;
  params.k = args.k.pages.data;
  params.v = args.v.pages.data;
  params.indptr = static_cast<const int*>(args.table.indptr.data);
  params.indices = static_cast<const int*>(args.table.indices.data);
  params.last_page_len = static_cast<const int*>(args.table.last_page_len.data);
  params.first_page_offset = static_cast<const int*>(args.table.first_page_offset.data);
  params.out = args.out.data;
  params.lse = static_cast<float*>(args.lse.data);
  params.k_page = args.k.stride_page;
  params.k_slot = args.k.stride_slot;
  params.k_head = args.k.stride_head;
  params.v_page = args.v.stride_page;
  params.v_slot = args.v.stride_slot;
  params.v_head = args.v.stride_head;
  const ScoreFactors factors = ScoreFactors::of(args);
  params.score_scale = factors.scale * score_factor;
  params.softcap = factors.cap;
  params.out_scale = args.v_scale;
  params.window = static_cast<unsigned>(
      std::min<std::int64_t>(args.window, std::numeric_limits<std::int32_t>::max()));
  params.kv_heads = static_cast<unsigned>(args.kv_heads);
  params.group = static_cast<unsigned>(blocks.group);
  params.head_chunks = static_cast<unsigned>(blocks.chunks);
  set_page_division(params, static_cast<std::uint32_t>(args.page_size));
  return params;
}

std::string paged_decode_words(std::span<const std::byte> params) {
  PagedDecodeParams p;
  std::memcpy(&p, params.data(), sizeof p);
  return fmt::format("page={} kv_heads={} group={} window={} k={},{},{} v={},{},{}", p.page_size,
                     p.kv_heads, p.group, p.window, p.k_page, p.k_slot, p.k_head, p.v_page,
                     p.v_slot, p.v_head);
}

}  // namespace parity
