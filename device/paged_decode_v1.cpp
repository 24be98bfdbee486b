// Arguments to module key, grid and parameters of paged_decode_v1.
#include "device/paged_decode_v1.hpp"

#include <fmt/format.h>

#include "device/paged_decode_blocks.hpp"

namespace parity {

VariantSpec paged_decode_v1_variant(Dtype q, Dtype k, Dtype v, std::int64_t head_dim,
                                    std::int64_t group_size) {
  return paged_decode_variant("paged_decode_v1", q, k, v, head_dim, group_size);
}

std::string paged_decode_v1(Runtime& runtime, const PagedDecodeArgs& args) {
  check_paged_decode_args(args);
  const Shape& q = args.q.type.shape;
  const std::int64_t group = q[1] / args.kv_heads;
  const LaunchShape shape{.grid = {paged_decode_grid("paged_decode_v1", args, q[0])},
                          .block = {kPagedDecodeThreads}};
  if (args.checked) check_page_table(read_page_table(runtime.backend(), args.table), args);

  const Dtype v = args.v.pages.type.dtype;
  const VariantSpec variant =
      paged_decode_v1_variant(args.q.type.dtype, args.k.pages.type.dtype, v, q[2], group);
  const PagedDecodeParams params = paged_decode_params(args, runtime.score_drift(v));
  runtime.launch({.variant = variant,
                  .shape = shape,
                  .params = std::as_bytes(std::span(&params, 1)),
                  .input = args.q,
                  .output = args.out});
  return fmt::format("v1 bucket={} threads={}", HeadBlocks::of(group).bucket, kPagedDecodeThreads);
}

}  // namespace parity
