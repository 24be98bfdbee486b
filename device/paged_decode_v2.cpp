// Plan, partial and merge of paged_decode_v2.
#include "device/paged_decode_v2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "datasets/errors.hpp"
#include "device/kernels/paged_decode_v2_params.cuh"
#include "device/paged_decode_blocks.hpp"
#include "device/planted_launch.hpp"
#include "device/split_kv_merge.hpp"

namespace parity {
namespace {

constexpr std::int64_t kFloatBytes = 4;

/// Of the partial, at once: bound by registers as compiled for sm_90a at D = 128.
std::int64_t blocks_per_multiprocessor(std::int64_t bucket) {
  return bucket >= 8 ? 2 : bucket == 4 ? 4 : bucket == 2 ? 5 : 7;
}

SplitPlan split_for(const Backend& backend, const PagedDecodeArgs& args,
                    const std::vector<std::int32_t>& page_indptr, std::int64_t pages_per_chunk) {
  const HeadBlocks blocks = HeadBlocks::of(args.q.type.shape[1] / args.kv_heads);
  return split_rows(page_indptr, args.page_size, pages_per_chunk, args.kv_heads * blocks.chunks,
                    {.multiprocessors = backend.identity().multiprocessors,
                     .blocks_per_multiprocessor = blocks_per_multiprocessor(blocks.bucket)});
}

/// Partial results in a workspace: f32 [chunks, Hq, D], then their log-sum-exps [chunks, Hq].
struct Partials {
  DeviceTensor out;
  DeviceTensor lse;

  Partials(const DeviceTensor& workspace, std::int64_t chunks, const Shape& q)
      : out{{Dtype::f32, {chunks, q[1], q[2]}}, workspace.data},
        lse{{Dtype::f32, {chunks, q[1]}}, nullptr} {
    lse.data = static_cast<std::byte*>(workspace.data) + out.type.bytes();
  }
};

void check_workspace(const DeviceTensor& workspace, const SplitPlan& split, const Shape& q) {
  const std::int64_t needed = paged_decode_v2_workspace_bytes(split.chunks(), q[1], q[2]);
  if (workspace.type.dtype != Dtype::u8 || workspace.type.shape.size() != 1)
    throw UsageError(fmt::format("paged_decode_v2: workspace is {}, but must be u8[bytes]",
                                 workspace.type.to_string()));
  if (workspace.type.elements() < needed)
    throw UsageError(
        fmt::format("paged_decode_v2: workspace has {} bytes, but {} are needed: {} chunks · {} "
                    "heads · ({} + 1) · 4",
                    workspace.type.elements(), needed, split.chunks(), q[1], q[2]));
  if (reinterpret_cast<std::uintptr_t>(workspace.data) % 16 != 0)
    throw UsageError("paged_decode_v2: workspace must be aligned to 16 bytes");
}

}  // namespace

std::int64_t paged_decode_v2_workspace_bytes(std::int64_t chunks, std::int64_t heads,
                                             std::int64_t head_dim) {
  return chunks * heads * (head_dim + 1) * kFloatBytes;
}

PagedDecodeV2Plan::PagedDecodeV2Plan(Runtime& runtime, const PagedDecodeArgs& args,
                                     const HostPageTable& table, std::int64_t pages_per_chunk) {
  check_paged_decode_args(args);
  check_page_table(table, args);
  q_shape_ = args.q.type.shape;
  page_size_ = args.page_size;
  kv_heads_ = args.kv_heads;
  split_ = split_for(runtime.backend(), args, table.indptr, pages_per_chunk);
  if (split_.needs_merge()) {
    workspace_bytes_ = paged_decode_v2_workspace_bytes(split_.chunks(), q_shape_[1], q_shape_[2]);
    for (std::size_t row = 0; row + 1 < table.indptr.size(); ++row)
      if (table.indptr[row] == table.indptr[row + 1]) empty_chunks_.push_back(split_.o_indptr[row]);
  }
  upload(runtime.backend());
}

void PagedDecodeV2Plan::upload(Backend& backend) {
  std::vector<std::int32_t> arrays = split_.o_indptr;
  arrays.insert(arrays.end(), split_.chunk_row.begin(), split_.chunk_row.end());
  const auto bytes = std::as_bytes(std::span(arrays));
  arrays_ = DeviceBuffer(backend, bytes.size());
  backend.copy_in(arrays_.data(), bytes);
}

void PagedDecodeV2Plan::require_same_shapes(const PagedDecodeArgs& args) const {
  if (args.q.type.shape != q_shape_ || args.page_size != page_size_ || args.kv_heads != kv_heads_)
    throw UsageError(
        fmt::format("paged_decode_v2: the plan was made for q {}, page_size {}, kv_heads {}, but q "
                    "is {}, page_size {}, kv_heads {}; plan again",
                    TensorType{args.q.type.dtype, q_shape_}.to_string(), page_size_, kv_heads_,
                    args.q.type.to_string(), args.page_size, args.kv_heads));
}

VariantSpec paged_decode_v2_variant(Dtype q, Dtype k, Dtype v, std::int64_t head_dim,
                                    std::int64_t group_size) {
  return paged_decode_variant("paged_decode_v2", q, k, v, head_dim, group_size);
}

std::string paged_decode_v2(Runtime& runtime, const PagedDecodeArgs& args,
                            const PagedDecodeV2Plan& plan, const DeviceTensor& given) {
  check_paged_decode_args(args);
  plan.require_same_shapes(args);
  const Shape& q = args.q.type.shape;
  const SplitPlan& split = plan.split();
  const bool merge = split.needs_merge();
  const LaunchShape shape{.grid = {paged_decode_grid("paged_decode_v2", args, split.chunks())},
                          .block = {kPagedDecodeThreads}};
  DeviceTensor workspace = given;
  WorkspaceLease lease;  // until the merge has been started
  if (merge && workspace.data == nullptr) {
    lease = runtime.workspaces().lease({"paged_decode_v2", "partials"},
                                       static_cast<std::size_t>(plan.workspace_bytes()),
                                       runtime.trace());
    workspace = lease.memory;
  }
  if (merge) check_workspace(workspace, split, q);
  const Partials partials(workspace, split.chunks(), q);

  const Dtype v = args.v.pages.type.dtype;
  const HeadBlocks blocks = HeadBlocks::of(q[1] / args.kv_heads);
  const VariantSpec variant =
      paged_decode_v2_variant(args.q.type.dtype, args.k.pages.type.dtype, v, q[2], blocks.group);
  const auto* const o_indptr = static_cast<const int*>(plan.arrays_.data());
  const PagedDecodeV2Params params{
      .common = paged_decode_params(args, runtime.score_drift(v)),
      .chunk_row = o_indptr + split.o_indptr.size(),
      .o_indptr = o_indptr,
      .partial_out = merge ? static_cast<float*>(partials.out.data) : nullptr,
      .partial_lse = merge ? static_cast<float*>(partials.lse.data) : nullptr,
      .pages_per_chunk = static_cast<unsigned>(
          std::min<std::int64_t>(split.pages_per_chunk, std::numeric_limits<std::int32_t>::max())),
      .direct = merge ? 0u : 1u};

  std::vector<LeftAsItLay> stale;
  if (runtime.faults().dirty_workspace)
    for (const std::int32_t chunk : plan.empty_chunks_) {
      const auto heads = static_cast<std::size_t>(q[1]);
      const std::size_t row = heads * static_cast<std::size_t>(q[2] * kFloatBytes);
      const auto at = static_cast<std::size_t>(chunk);
      stale.emplace_back(runtime.backend(), static_cast<std::byte*>(partials.out.data) + at * row,
                         row);
      stale.emplace_back(runtime.backend(),
                         static_cast<std::byte*>(partials.lse.data) + at * heads * kFloatBytes,
                         heads * kFloatBytes);
    }
  runtime.launch({.variant = variant,
                  .shape = shape,
                  .params = std::as_bytes(std::span(&params, 1)),
                  .input = args.q,
                  .output = args.out,
                  .writes_output = !merge});
  for (const LeftAsItLay& lay : stale) lay.put_back();
  if (merge)
    split_kv_merge(runtime, {.v = partials.out,
                             .lse = partials.lse,
                             .o_indptr = {{Dtype::i32, {q[0] + 1}}, plan.arrays_.data()},
                             .out = args.out,
                             .lse_out = args.lse});
  return fmt::format("v2 ppc={} chunks={} merge={} bucket={} threads={}", split.pages_per_chunk,
                     split.chunks(), merge ? 1 : 0, blocks.bucket, kPagedDecodeThreads);
}

}  // namespace parity
