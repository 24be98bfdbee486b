// Module keys, parameters and launches of paged_decode_cascade.
#include "device/paged_decode_cascade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "device/partials.hpp"
#include "device/planted_split.hpp"
#include "device/split_kv_merge.hpp"

namespace parity {
namespace {

constexpr const char* kWho = "paged_decode_cascade";
constexpr std::int64_t kPrefixHeads = 8;
constexpr std::int64_t kPrefixTile = 4;

}  // namespace

VariantSpec paged_decode_cascade_variant(const PagedDecodeChoice& choice) {
  return paged_decode_variant(kWho, choice);
}

PagedDecodeChoice paged_decode_cascade_prefix_choice(PagedDecodeChoice choice) {
  choice.group_size = kPrefixHeads;
  choice.tile = kPrefixTile;
  return choice;
}

PagedDecodeCascadeParams PagedDecodeCascadePlan::params(std::size_t level,
                                                        const PagedDecodeCascadeArgs& args,
                                                        float score_factor) const {
  PagedDecodeCascadeParams params{
      .common = paged_decode_params(args.decode, score_factor),
      .tiles = arrays_.tiles[level],
      .set_rows = arrays_.row_numbers,
      .first_partial = arrays_.suffix_begin,
      .partial_out = nullptr,
      .partial_lse = nullptr,
      .pages_per_chunk = static_cast<unsigned>(std::min<std::int64_t>(
          levels_[level].pages_per_chunk, std::numeric_limits<std::int32_t>::max())),
      .direct = needs_merge() ? 0u : 1u};
  if (level != 0) return params;
  params.set_rows = static_cast<const int*>(args.group_indptr.data);
  params.first_partial = arrays_.o_indptr;
  params.common.indptr = static_cast<const int*>(args.prefix_indptr.data);
  params.common.indices = static_cast<const int*>(args.prefix_indices.data);
  params.common.last_page_len = arrays_.prefix_last;
  params.common.first_page_offset = arrays_.prefix_first;
  return params;
}

std::string paged_decode_cascade(Runtime& runtime, const PagedDecodeCascadeArgs& args,
                                 const PagedDecodeCascadePlan& plan, const DeviceTensor& given) {
  check_paged_decode_cascade_args(args);
  plan.require_same_problem(args);
  const PagedDecodeArgs& decode = args.decode;
  if (decode.checked) {
    const HostCascadeTable table = read_cascade_table(runtime.backend(), args);
    check_cascade_table(table, args);
    plan.require_same_table(table);
  }
  const Shape& q = decode.q.type.shape;
  const bool merge = plan.needs_merge();
  HeldPartials held;
  if (merge)
    held = HeldPartials::in(runtime, kWho, given, plan.partials(), q, paged_decode_memory(args));
  const Partials& partials = held.partials;
  const PagedDecodeChoice choice = PagedDecodeChoice::of(decode);
  const std::array variants = {
      paged_decode_cascade_variant(paged_decode_cascade_prefix_choice(choice)),
      paged_decode_cascade_variant(choice)};
  const float score_factor = runtime.score_factor(decode.v.pages.type.dtype);

  const SplitPlan suffixes{plan.suffixes().pages_per_chunk, plan.suffix_begin_, {}};
  const PlantedSplit planted(runtime, suffixes, plan.table_.suffix.indptr, partials.out,
                             partials.lse);
  for (const std::size_t level : {std::size_t{0}, std::size_t{1}}) {
    const std::int64_t blocks = std::ssize(plan.levels_[level].tiles) * decode.kv_heads;
    if (blocks == 0) continue;
    PagedDecodeCascadeParams params = plan.params(level, args, score_factor);
    params.partial_out = static_cast<float*>(partials.out.data);
    params.partial_lse = static_cast<float*>(partials.lse.data);
    runtime.launch(
        {.variant = variants[level],
         .shape = {.grid = {static_cast<std::uint32_t>(blocks)}, .block = {kPagedDecodeThreads}},
         .params = std::as_bytes(std::span(&params, 1)),
         .input = decode.q,
         .output = decode.out,
         .writes_output = !merge,
         .words = paged_decode_words});
  }
  planted.after_partials();
  if (merge)
    split_kv_merge(runtime, {.v = partials.out,
                             .lse = partials.lse,
                             .o_indptr = {{Dtype::i32, {q[0] + 1}}, plan.arrays_.o_indptr},
                             .out = decode.out,
                             .lse_out = decode.lse});
  return fmt::format("cascade ppc={},{} tiles={},{} partials={} merge={} bucket={} threads={}",
                     plan.prefixes().pages_per_chunk, plan.suffixes().pages_per_chunk,
                     plan.prefixes().tiles.size(), plan.suffixes().tiles.size(), plan.partials(),
                     merge ? 1 : 0, HeadBlocks::of(q[1] / decode.kv_heads).bucket,
                     kPagedDecodeThreads);
}

}  // namespace parity
