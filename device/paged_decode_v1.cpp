// Arguments to module key, grid and parameters of paged_decode_v1.
#include "device/paged_decode_v1.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numbers>
#include <string_view>

#include "datasets/errors.hpp"
#include "device/kernels/paged_decode_v1_params.cuh"

namespace parity {
namespace {

constexpr std::uint32_t kThreads = 128;
constexpr std::int64_t kMaxBucket = 8;

/// Query heads that one block computes together; larger groups take several blocks.
std::int64_t bucket_of(std::int64_t group) {
  return std::min<std::int64_t>(
      kMaxBucket, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(group))));
}

void check_dtype(std::string_view axis, Dtype dtype) {
  if (dtype != Dtype::f32 && dtype != Dtype::f16 && dtype != Dtype::bf16)
    throw UsageError(
        fmt::format("paged_decode_v1: {} is {}, but must be f32, f16 or bf16", axis, name(dtype)));
}

std::uint32_t grid_size(const PagedDecodeArgs& args, std::int64_t head_chunks) {
  const std::int64_t batch = args.q.type.shape[0];
  if (batch > std::numeric_limits<std::int32_t>::max() / (args.kv_heads * head_chunks))
    throw UsageError(fmt::format(
        "paged_decode_v1: q has {} rows, {} blocks each: more than a grid of 2^31 - 1 blocks",
        batch, args.kv_heads * head_chunks));
  return static_cast<std::uint32_t>(batch * args.kv_heads * head_chunks);
}

/// Division by `divisor` as a multiplication, exact for every dividend below 2^31 (Granlund and
/// Montgomery, "Division by invariant integers using multiplication", 1994).
void set_page_division(PagedDecodeV1Params& params, std::uint32_t divisor) {
  const auto log = static_cast<std::uint32_t>(std::bit_width(divisor - 1));
  params.page_size = divisor;
  params.page_shift = 31 + log;
  params.page_magic =
      static_cast<std::uint32_t>(((std::uint64_t{1} << params.page_shift) + divisor - 1) / divisor);
}

PagedDecodeV1Params make_params(const PagedDecodeArgs& args, std::int64_t group,
                                std::int64_t head_chunks, float drift) {
  PagedDecodeV1Params params{};
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
  params.score_scale = static_cast<float>(std::numbers::log2e * args.scale) * drift;
  params.kv_heads = static_cast<unsigned>(args.kv_heads);
  params.group = static_cast<unsigned>(group);
  params.head_chunks = static_cast<unsigned>(head_chunks);
  set_page_division(params, static_cast<std::uint32_t>(args.page_size));
  return params;
}

}  // namespace

VariantSpec paged_decode_v1_variant(Dtype q, Dtype k, Dtype v, std::int64_t head_dim,
                                    std::int64_t group_size) {
  check_dtype("q", q);
  check_dtype("k", k);
  check_dtype("v", v);
  if (head_dim < 8 || head_dim > 256 || head_dim % 8 != 0)
    throw UsageError(fmt::format(
        "paged_decode_v1: head_dim is {}, but must be a multiple of 8 up to 256", head_dim));
  if (group_size < 1)
    throw UsageError(
        fmt::format("paged_decode_v1: group_size is {}, but must be at least 1", group_size));
  return {.kernel = "paged_decode_v1",
          .constants = {{"D", head_dim}, {"GROUP", bucket_of(group_size)}},
          .dtypes = {{"q", q}, {"k", k}, {"v", v}}};
}

std::string paged_decode_v1(Runtime& runtime, const PagedDecodeArgs& args) {
  check_paged_decode_args(args);
  const Shape& q_shape = args.q.type.shape;
  const std::int64_t group = q_shape[1] / args.kv_heads;
  const std::int64_t bucket = bucket_of(group);
  const std::int64_t head_chunks = (group + bucket - 1) / bucket;
  const LaunchShape shape{.grid = {grid_size(args, head_chunks)}, .block = {kThreads}};
  if (args.checked) check_page_table(runtime.backend(), args);

  const Dtype v = args.v.pages.type.dtype;
  const Module& module = runtime.modules().get(
      paged_decode_v1_variant(args.q.type.dtype, args.k.pages.type.dtype, v, q_shape[2], group),
      runtime.trace());
  const PagedDecodeV1Params params = make_params(args, group, head_chunks, runtime.score_drift(v));
  if (shape.grid.x > 0) runtime.backend().launch(module, shape, &params, sizeof params);
  return fmt::format("v1 bucket={} threads={}", bucket, kThreads);
}

}  // namespace parity
