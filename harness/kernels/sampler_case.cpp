// One text for what both samplers are given alike.
#include "harness/kernels/sampler_case.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "datasets/fill.hpp"
#include "device/sampler_splits.hpp"

namespace parity {
namespace {

std::uint64_t random_u64(std::uint64_t seed, std::string_view name, std::int64_t row) {
  const auto word = [&](std::int64_t index) {
    return std::uint64_t{random_word(seed, stream_of(name), static_cast<std::uint64_t>(index))};
  };
  return word(2 * row) | word(2 * row + 1) << 32;
}

}  // namespace

ConstantAxis vocabulary_axis() {
  // The longer numbers are vocabularies of models; a block takes 2048 tokens at once.
  return {"v",
          {1, 2, 31, 32, 33, 255, 256, 257, 2047, 2049, 4096, 32000, 32064, 128256, 151936, 152064,
           256000, 262144}};
}

ConstantAxis batch_axis() {
  return {"b", {1, 2, 3, 64, 128, 989}};
}

ConstantAxis splits_axis() {
  return {.name = "splits",
          .values = {1, 2, 3, 7, 16, 64, kAutoSamplerSplits},
          .schedule = true,
          .words = {"auto"}};
}

TensorList sampler_streams(const Case& c) {
  const std::int64_t rows = c.constant("b");
  Tensor seed(Dtype::u64, {rows});
  Tensor step(Dtype::u64, {rows});
  for (std::int64_t row = 0; row < rows; ++row) {
    seed.set_bits(row, random_u64(c.data_seed(), "seed", row));
    step.set_bits(row, row % 2 == 0 ? static_cast<std::uint64_t>(row / 2)
                                    : random_u64(c.data_seed(), "step", row));
  }
  TensorList streams;
  streams.push_back({"seed", std::move(seed)});
  streams.push_back({"step", std::move(step)});
  return streams;
}

PackOutput exact_output(std::string name, Dtype dtype, std::int64_t rows) {
  return {std::move(name), {dtype, {rows}}, OutputRule::exact, std::nullopt, std::nullopt};
}

}  // namespace parity
