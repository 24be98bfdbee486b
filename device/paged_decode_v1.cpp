// Arguments to module key, grid and parameters of paged_decode_v1.
#include "device/paged_decode_v1.hpp"

#include <fmt/format.h>

namespace parity {

VariantSpec paged_decode_v1_variant(const PagedDecodeChoice& choice) {
  return paged_decode_variant("paged_decode_v1", choice);
}

std::string paged_decode_v1(Runtime& runtime, const PagedDecodeArgs& args) {
  check_paged_decode_args(args);
  const Shape& q = args.q.type.shape;
  const std::int64_t group = q[1] / args.kv_heads;
  const LaunchShape shape{.grid = {paged_decode_grid("paged_decode_v1", args, q[0])},
                          .block = {kPagedDecodeThreads}};
  if (args.checked) check_page_table(read_page_table(runtime.backend(), args.table), args);

  const VariantSpec variant = paged_decode_v1_variant(PagedDecodeChoice::of(args));
  const PagedDecodeParams params =
      paged_decode_params(args, runtime.score_drift(args.v.pages.type.dtype));
  runtime.launch({.variant = variant,
                  .shape = shape,
                  .params = std::as_bytes(std::span(&params, 1)),
                  .input = args.q,
                  .output = args.out});
  return fmt::format("v1 bucket={} threads={}", HeadBlocks::of(group).bucket, kPagedDecodeThreads);
}

}  // namespace parity
