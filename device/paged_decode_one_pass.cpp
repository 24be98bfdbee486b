// Checked arguments to module key, grid and parameters.
#include "device/paged_decode_one_pass.hpp"

#include <fmt/format.h>

#include <span>

namespace parity {

std::string launch_one_pass(Runtime& runtime, const std::string& kernel,
                            const PagedDecodeArgs& args) {
  const PagedDecodeChoice choice = PagedDecodeChoice::of(args);
  const VariantSpec variant = paged_decode_variant(kernel, choice);
  const LaunchShape shape{.grid = {paged_decode_grid(kernel, args, args.q.type.shape[0])},
                          .block = {kPagedDecodeThreads}};
  const PagedDecodeParams params =
      paged_decode_params(args, runtime.score_factor(args.v.pages.type.dtype));
  runtime.launch({.variant = variant,
                  .shape = shape,
                  .params = std::as_bytes(std::span(&params, 1)),
                  .input = args.q,
                  .output = args.out,
                  .words = paged_decode_words});
  return fmt::format("bucket={} threads={}", HeadBlocks::of(choice.group_size).bucket,
                     kPagedDecodeThreads);
}

}  // namespace parity
