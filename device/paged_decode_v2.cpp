// Plan, partial and merge of paged_decode_v2.
#include "device/paged_decode_v2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>

#include "datasets/errors.hpp"
#include "device/kernels/paged_decode_v2_params.cuh"
#include "device/partials.hpp"
#include "device/planted_split.hpp"
#include "device/split_kv_merge.hpp"

namespace parity {
namespace {

SplitPlan split_for(const Backend& backend, const PagedDecodeArgs& args,
                    const std::vector<std::int32_t>& page_indptr, std::int64_t pages_per_chunk) {
  const PagedDecodeChoice choice = PagedDecodeChoice::of(args);
  return split_rows(page_indptr, args.page_size, pages_per_chunk,
                    args.kv_heads * HeadBlocks::of(choice.group_size).chunks,
                    split_device(backend, choice));
}

/// What the memo holds for such a launch, tuned now where it holds nothing.
TunedPlan tuned_plan(Runtime& runtime, const PagedDecodeArgs& args, const HostPageTable& table) {
  const TuningKey key = TuningKey::of(
      "paged_decode_v2", args, table.indptr, runtime.backend().identity(),
      tuning_code({"paged_decode_v2", "split_kv_merge"}, runtime.toolchain().identity()));
  AutotuneMemo& memo = runtime.autotune();
  if (!memo.measures()) return memo.choose(key, RecordedClock(), runtime.trace());
  if (runtime.is_recording())
    throw UsageError(
        "paged_decode_v2: pages_per_chunk is to be tuned by timing launches, which are only "
        "recorded here; make the plan before replay_as_graph");
  const LiveClock clock(runtime.backend(), [&](const TunedPlan& candidate) {
    PagedDecodeArgs fixed = args;
    fixed.tile = candidate.tile;
    fixed.checked = false;  // The table has been checked.
    auto plan =
        std::make_shared<PagedDecodeV2Plan>(runtime, fixed, table, candidate.pages_per_chunk);
    return [&runtime, fixed, plan] { paged_decode_v2(runtime, fixed, *plan); };
  });
  return memo.choose(key, clock, runtime.trace());
}

}  // namespace

std::int64_t paged_decode_v2_workspace_bytes(std::int64_t chunks, std::int64_t heads,
                                             std::int64_t head_dim) {
  return Partials::bytes(chunks, heads, head_dim);
}

PagedDecodeV2Plan::PagedDecodeV2Plan(Runtime& runtime, const PagedDecodeArgs& args,
                                     const HostPageTable& table, std::int64_t pages_per_chunk)
    : planned_(args), page_indptr_(table.indptr) {
  check_paged_decode_args(args);
  check_page_table(table, args);
  if (pages_per_chunk == kTunedPagesPerChunk) {
    const TunedPlan tuned = tuned_plan(runtime, args, table);
    planned_.tile = tuned.tile;
    pages_per_chunk = tuned.pages_per_chunk;
  }
  split_ = split_for(runtime.backend(), planned_, table.indptr, pages_per_chunk);
  upload(runtime.backend());
}

std::int64_t PagedDecodeV2Plan::workspace_bytes() const {
  const Shape& q = planned_.q.type.shape;
  return split_.needs_merge() ? paged_decode_v2_workspace_bytes(split_.chunks(), q[1], q[2]) : 0;
}

void PagedDecodeV2Plan::upload(Backend& backend) {
  std::vector<std::int32_t> arrays = split_.o_indptr;
  arrays.insert(arrays.end(), split_.chunk_row.begin(), split_.chunk_row.end());
  const auto bytes = std::as_bytes(std::span(arrays));
  arrays_ = DeviceBuffer(backend, bytes.size());
  backend.copy_in(arrays_.data(), bytes);
}

void PagedDecodeV2Plan::require_same_problem(const PagedDecodeArgs& args) const {
  const auto require = [](std::string_view name, std::int64_t planned, std::int64_t given) {
    if (planned != given)
      throw UsageError(
          fmt::format("paged_decode_v2: the plan was made for {} {}, but {} is given; plan again",
                      name, planned, given));
  };
  for (std::size_t axis = 0; axis < 3; ++axis)
    require(std::array{"rows", "query heads", "head_dim"}[axis], planned_.q.type.shape[axis],
            args.q.type.shape[axis]);
  require("page_size", planned_.page_size, args.page_size);
  require("kv_heads", planned_.kv_heads, args.kv_heads);
  require("page_indices", planned_.table.indices.type.elements(),
          args.table.indices.type.elements());
  require("pages of k", planned_.k.pages.type.shape[0], args.k.pages.type.shape[0]);
  require("pages of v", planned_.v.pages.type.shape[0], args.v.pages.type.shape[0]);
}

void PagedDecodeV2Plan::require_same_table(const HostPageTable& table) const {
  for (std::size_t row = 0; row < page_indptr_.size(); ++row)
    if (table.indptr[row] != page_indptr_[row])
      throw UsageError(fmt::format(
          "paged_decode_v2: page_indptr[{}] was {} when it was planned and is {} now; plan again",
          row, page_indptr_[row], table.indptr[row]));
}

VariantSpec paged_decode_v2_variant(const PagedDecodeChoice& choice) {
  return paged_decode_variant("paged_decode_v2", choice);
}

std::string paged_decode_v2(Runtime& runtime, const PagedDecodeArgs& args,
                            const PagedDecodeV2Plan& plan, const DeviceTensor& given) {
  check_paged_decode_args(args);
  plan.require_same_problem(args);
  if (args.checked) {
    const HostPageTable table = read_page_table(runtime.backend(), args.table);
    check_page_table(table, args);
    plan.require_same_table(table);
  }
  const Shape& q = args.q.type.shape;
  const SplitPlan& split = plan.split();
  const bool merge = split.needs_merge();
  const LaunchShape shape{.grid = {paged_decode_grid("paged_decode_v2", args, split.chunks())},
                          .block = {kPagedDecodeThreads}};
  HeldPartials held;
  if (merge)
    held = HeldPartials::in(runtime, "paged_decode_v2", given, split.chunks(), q,
                            paged_decode_memory(args));
  const Partials& partials = held.partials;
  const HeadBlocks blocks = HeadBlocks::of(q[1] / args.kv_heads);
  PagedDecodeChoice choice = PagedDecodeChoice::of(args);
  choice.tile = plan.tile();
  const VariantSpec variant = paged_decode_v2_variant(choice);
  const auto* const o_indptr = static_cast<const int*>(plan.arrays_.data());
  const PagedDecodeV2Params params{
      .common = paged_decode_params(args, runtime.score_factor(args.v.pages.type.dtype)),
      .chunk_row = o_indptr + split.o_indptr.size(),
      .o_indptr = o_indptr,
      .partial_out = static_cast<float*>(partials.out.data),
      .partial_lse = static_cast<float*>(partials.lse.data),
      .pages_per_chunk = static_cast<unsigned>(
          std::min<std::int64_t>(split.pages_per_chunk, std::numeric_limits<std::int32_t>::max())),
      .direct = merge ? 0u : 1u};

  const PlantedSplit planted(runtime, split, plan.page_indptr_, partials.out, partials.lse);
  runtime.launch({.variant = variant,
                  .shape = shape,
                  .params = std::as_bytes(std::span(&params, 1)),
                  .input = args.q,
                  .output = args.out,
                  .writes_output = !merge,
                  .words = paged_decode_words});
  planted.after_partials();
  if (merge)
    split_kv_merge(runtime, {.v = partials.out,
                             .lse = partials.lse,
                             .o_indptr = {{Dtype::i32, {q[0] + 1}}, plan.arrays_.data()},
                             .out = args.out,
                             .lse_out = args.lse});
  return fmt::format("v2 ppc={} tile={} chunks={} merge={} bucket={} threads={}",
                     split.pages_per_chunk, choice.tile, split.chunks(), merge ? 1 : 0,
                     blocks.bucket, kPagedDecodeThreads);
}

}  // namespace parity
