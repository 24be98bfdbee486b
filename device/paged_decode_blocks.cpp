// Blocks and parameters of paged decode kernels.
#include "device/paged_decode_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numbers>

#include "datasets/errors.hpp"
#include "device/argument_checks.hpp"

namespace parity {
namespace {

constexpr std::int64_t kMaxBucket = 8;
/// Tiles that some module may come to have.
constexpr std::array<std::int64_t, 6> kTiles = {1, 2, 4, 8, 16, 32};

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
  return {group, bucket, (group + bucket - 1) / bucket};
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

std::vector<std::int64_t> paged_decode_tiles(PagedDecodeChoice choice) {
  std::vector<std::int64_t> tiles;
  for (const std::int64_t tile : kTiles) {
    choice.tile = tile;
    try {
      paged_decode_variant("paged_decode", choice);
      tiles.push_back(tile);
    } catch (const UsageError&) {
      // Not of this choice.
    }
  }
  return tiles;
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
  if (choice.tile != 4 && (choice.tile != 8 || choice.group_size > 2))
    throw UsageError(
        fmt::format("{}: tile is {}, but must be 4, or 8 where a kv head has at most 2 query heads",
                    kernel, choice.tile));
  return {.kernel = kernel,
          .constants = {{"D", choice.head_dim},
                        {"GROUP", HeadBlocks::of(choice.group_size).bucket},
                        {"SOFTCAP", choice.softcap ? 1 : 0},
                        {"TILE", choice.tile}},
          .dtypes = {{"q", choice.q}, {"out", choice.out}, {"k", choice.k}, {"v", choice.v}}};
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

PagedDecodeParams paged_decode_params(const PagedDecodeArgs& args, float drift) {
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
  const double scale = double{args.scale} * args.k_scale;
  const bool capped = args.softcap > 0.0f;
  params.score_scale =
      static_cast<float>(capped ? scale / args.softcap : scale * std::numbers::log2e) * drift;
  params.softcap = static_cast<float>(std::numbers::log2e * args.softcap);
  params.out_scale = args.v_scale;
  params.window = static_cast<unsigned>(
      std::min<std::int64_t>(args.window, std::numeric_limits<std::int32_t>::max()));
  params.kv_heads = static_cast<unsigned>(args.kv_heads);
  params.group = static_cast<unsigned>(blocks.group);
  params.head_chunks = static_cast<unsigned>(blocks.chunks);
  set_page_division(params, static_cast<std::uint32_t>(args.page_size));
  return params;
}

}  // namespace parity
