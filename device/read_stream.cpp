// Arguments to grid and parameters of read_stream.
#include "device/read_stream.hpp"

#include <fmt/format.h>

#include <limits>
#include <span>

#include "datasets/errors.hpp"
#include "device/argument_checks.hpp"
#include "device/kernels/read_stream_params.cuh"

namespace parity {
namespace {

constexpr std::int64_t kWordBytes = 16;
constexpr std::uint32_t kThreads = 128;

}  // namespace

void read_stream(Runtime& runtime, const ReadStreamArgs& args) {
  const std::int64_t bytes = args.input.type.elements();
  check_type("read_stream", "input", args.input, {Dtype::u8, {bytes}});
  check_memory("read_stream", "input", args.input, kWordBytes);
  if (bytes % kWordBytes != 0)
    throw UsageError(fmt::format("read_stream: input has {} bytes, but must have a multiple of {}",
                                 bytes, kWordBytes));
  if (args.blocks < 1 || args.blocks > std::numeric_limits<std::int32_t>::max())
    throw UsageError(
        fmt::format("read_stream: blocks is {}, but must be 1 to 2^31 - 1", args.blocks));
  check_type("read_stream", "sums", args.sums, {Dtype::i32, {args.blocks}});
  check_memory("read_stream", "sums", args.sums, sizeof(std::int32_t));
  const VariantSpec variant{.kernel = "read_stream", .constants = {}, .dtypes = {}};
  const ReadStreamParams params{.input = args.input.data,
                                .sums = static_cast<unsigned*>(args.sums.data),
                                .words = static_cast<unsigned long long>(bytes / kWordBytes)};
  runtime.launch({.variant = variant,
                  .shape = {.grid = {static_cast<std::uint32_t>(args.blocks)}, .block = {kThreads}},
                  .params = std::as_bytes(std::span(&params, 1)),
                  .input = args.input,
                  .output = args.sums});
}

}  // namespace parity
