// Arguments to module key, grid and parameters of gumbel_max_sample.
#include "device/gumbel_max_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "datasets/errors.hpp"
#include "device/argument_checks.hpp"
#include "device/kernels/gumbel_max_sample_params.cuh"
#include "device/planted_draw.hpp"

namespace parity {
namespace {

constexpr std::string_view kWho = "gumbel_max_sample";
constexpr std::int64_t kKeyBytes = 8;
static_assert(kGumbelMostSplits == kMostSamplerSplits);

constexpr Refuse refuse{kWho};

void check_tensor(std::string_view name, const DeviceTensor& tensor, const TensorType& want) {
  check_tensor(kWho, name, tensor, want, size_of(want.dtype));
}

std::vector<ArgumentMemory> inputs_of(const GumbelMaxSampleArgs& args) {
  return {ArgumentMemory::of("logits", args.logits),
          ArgumentMemory::of("temperature", args.temperature),
          ArgumentMemory::of("seed", args.seed), ArgumentMemory::of("step", args.step)};
}

std::vector<ArgumentMemory> outputs_of(const GumbelMaxSampleArgs& args) {
  return {ArgumentMemory::of("token", args.token), ArgumentMemory::of("ok", args.ok)};
}

void check(const GumbelMaxSampleArgs& args) {
  check_float(kWho, "logits", args.logits);
  const Shape& logits = args.logits.type.shape;
  if (logits.size() != 2)
    refuse("logits is {}, but must be [rows, vocabulary]", args.logits.type.to_string());
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (logits[1] < 1 || logits[1] > kMost)
    refuse("the vocabulary of logits is {}, but must be 1 to 2^31 - 1", logits[1]);
  check_tensor("logits", args.logits, args.logits.type);
  check_tensor("temperature", args.temperature, {Dtype::f32, {logits[0]}});
  check_tensor("seed", args.seed, {Dtype::u64, {logits[0]}});
  check_tensor("step", args.step, {Dtype::u64, {logits[0]}});
  check_tensor("token", args.token, {Dtype::i32, {logits[0]}});
  check_tensor("ok", args.ok, {Dtype::u8, {logits[0]}});
  check_apart(kWho, outputs_of(args), inputs_of(args));
  if (args.splits < 0 || args.splits > kMostSamplerSplits)
    refuse("splits is {}, but must be 1 to {}, or {} to have it chosen", args.splits,
           kMostSamplerSplits, kAutoSamplerSplits);
  if (logits[0] > kMost / kMostSamplerSplits)
    refuse("logits has {} rows, but may have {}", logits[0], kMost / kMostSamplerSplits);
}

/// The workspace given, or one of the runtime's.
struct HeldWorkspace {
  DeviceTensor memory;
  WorkspaceLease lease;

  static HeldWorkspace in(Runtime& runtime, const GumbelMaxSampleArgs& args, std::int64_t bytes) {
    if (args.workspace.data == nullptr) {
      WorkspaceLease lease =
          runtime.lease_workspace({std::string(kWho), "partials"}, static_cast<std::size_t>(bytes));
      return {lease.memory, std::move(lease)};
    }
    const TensorType& type = args.workspace.type;
    if (type.dtype != Dtype::u8 || type.shape.size() != 1 || type.elements() < bytes)
      refuse("workspace is {}, but must be u8[bytes] of at least {}", type.to_string(), bytes);
    check_memory(kWho, "workspace", args.workspace, kKeyBytes);
    std::vector<ArgumentMemory> others = inputs_of(args);
    for (const ArgumentMemory& output : outputs_of(args)) others.push_back(output);
    check_apart(kWho, {ArgumentMemory::of("workspace", args.workspace)}, others);
    return {args.workspace, {}};
  }
};

GumbelMaxSampleParams params_of(const GumbelMaxSampleArgs& args, std::int64_t splits,
                                void* partial) {
  return {.logits = args.logits.data,
          .temperature = static_cast<const float*>(args.temperature.data),
          .seed = static_cast<const unsigned long long*>(args.seed.data),
          .step = static_cast<const unsigned long long*>(args.step.data),
          .token = static_cast<int*>(args.token.data),
          .ok = static_cast<unsigned char*>(args.ok.data),
          .partial = static_cast<unsigned long long*>(partial),
          .vocabulary = static_cast<unsigned>(args.logits.type.shape[1]),
          .splits = static_cast<unsigned>(splits)};
}

void combine(Runtime& runtime, const GumbelMaxSampleArgs& args, std::int64_t splits,
             const DeviceTensor& partial) {
  const VariantSpec variant = gumbel_max_combine_variant();
  const GumbelMaxCombineParams params{
      .partial = static_cast<const unsigned long long*>(partial.data),
      .token = static_cast<int*>(args.token.data),
      .ok = static_cast<unsigned char*>(args.ok.data),
      .splits = static_cast<unsigned>(splits)};
  const auto rows = static_cast<std::uint32_t>(args.logits.type.shape[0]);
  runtime.launch({.variant = variant,
                  .shape = {.grid = {rows}, .block = {kGumbelCombineThreads}},
                  .params = std::as_bytes(std::span(&params, 1)),
                  .input = partial,
                  .output = args.token});
}

VariantSpec planted_variant(const Faults& faults, Dtype logits) {
  VariantSpec variant = gumbel_max_sample_variant(logits);
  if (faults.noise_in_logits_dtype) variant.dtypes.emplace_back("noise", logits);
  return variant;
}

}  // namespace

std::int64_t gumbel_max_workspace_bytes(std::int64_t rows, std::int64_t splits) {
  return splits > 1 ? rows * splits * kKeyBytes : 0;
}

VariantSpec gumbel_max_sample_variant(Dtype logits) {
  check_float(kWho, "logits", logits);
  return {.kernel = "gumbel_max_sample", .constants = {}, .dtypes = {{"logits", logits}}};
}

VariantSpec gumbel_max_combine_variant() {
  return {.kernel = "gumbel_max_combine", .constants = {}, .dtypes = {}};
}

std::string gumbel_max_sample(Runtime& runtime, const GumbelMaxSampleArgs& args) {
  check(args);
  const Shape& logits = args.logits.type.shape;
  const std::int64_t splits =
      args.splits != kAutoSamplerSplits
          ? args.splits
          : sampler_splits(logits[0], logits[1], runtime.backend().identity().multiprocessors);
  HeldWorkspace held;
  if (splits > 1 && logits[0] > 0)
    held = HeldWorkspace::in(runtime, args, gumbel_max_workspace_bytes(logits[0], splits));
  const VariantSpec variant = planted_variant(runtime.faults(), args.logits.type.dtype);
  const PlantedDraw draw(runtime, args.logits.type.dtype, args.step);
  GumbelMaxSampleParams params = params_of(args, splits, held.memory.data);
  params.step = draw.step();
  runtime.launch({.variant = variant,
                  .shape = {.grid = {static_cast<std::uint32_t>(logits[0] * splits)},
                            .block = {kGumbelThreads}},
                  .params = std::as_bytes(std::span(&params, 1)),
                  .input = args.logits,
                  .output = args.token,
                  .writes_output = splits == 1});
  if (splits > 1) combine(runtime, args, splits, held.memory);
  return fmt::format("gumbel splits={} threads={}", splits, kGumbelThreads);
}

}  // namespace parity
