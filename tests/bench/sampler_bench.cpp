// Speed of the samplers against the read-only ceiling of one pass over their rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "datasets/errors.hpp"
#include "device/gumbel_max_sample.hpp"
#include "device/rejection_sample.hpp"
#include "tests/bench/benches.hpp"

namespace parity {
namespace {

struct SamplerShape {
  std::int64_t rows = 0;
  std::int64_t vocabulary = 0;
  Dtype dtype = Dtype::f32;
  std::int64_t splits = 0;  ///< 0: chosen

  std::string name() const {
    return fmt::format("rows:{}/v:{}/{}/splits:{}", rows, vocabulary, parity::name(dtype),
                       splits == 0 ? "auto" : std::to_string(splits));
  }
};

std::vector<SamplerShape> shapes(const BenchDevice& device) {
  if (!device.on_gpu()) return {{2, 4096, Dtype::f32, 0}, {2, 4096, Dtype::bf16, 2}};
  std::vector<SamplerShape> all;
  for (const std::int64_t rows : {1, 8, 64, 256})
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) all.push_back({rows, 128256, dtype, 0});
  all.push_back({1, 128256, Dtype::f32, 1});  // what one block a row costs
  return all;
}

/// One value for every row, in device memory.
class PerRow {
 public:
  template <class T>
  PerRow(Backend& backend, Dtype dtype, std::int64_t rows, T value)
      : type_{dtype, {rows}}, memory_(backend, type_.bytes()) {
    const std::vector<T> values(static_cast<std::size_t>(rows), value);
    backend.copy_in(memory_.data(), std::as_bytes(std::span(values)));
  }
  DeviceTensor tensor() const { return {type_, memory_.data()}; }

 private:
  TensorType type_;
  DeviceBuffer memory_;
};

/// Rows to sample from, in as many copies as a rotation takes, and what both samplers write.
struct SamplerData {
  SamplerData(Bench& bench, const SamplerShape& shape, double (*value)(double normal))
      : backend(bench.device.runtime().backend()),
        type{shape.dtype, {shape.rows, shape.vocabulary}},
        copies(std::max<std::size_t>(2, bench.device.rotation_bytes() / type.bytes() + 1)),
        values(backend, copies * type.bytes()),
        seed(backend, Dtype::u64, shape.rows, std::uint64_t{7}),
        step(backend, Dtype::u64, shape.rows, std::uint64_t{1}),
        token(backend, Dtype::i32, shape.rows, std::int32_t{-1}),
        ok(backend, Dtype::u8, shape.rows, std::uint8_t{0}),
        rounds(backend, Dtype::i32, shape.rows, std::int32_t{0}) {
    Shape all = type.shape;
    all[0] *= static_cast<std::int64_t>(copies);
    fill_pattern(backend, {{type.dtype, all}, values.data()}, value);
  }

  DeviceTensor copy(std::size_t i) const {
    return {type, static_cast<std::byte*>(values.data()) + i * type.bytes()};
  }
  /// Throws DeviceError where a row has no token: what a kernel leaves that did not do its work.
  void require_tokens() const {
    std::vector<std::uint8_t> found(static_cast<std::size_t>(type.shape[0]));
    backend.synchronize();
    backend.copy_out(std::as_writable_bytes(std::span(found)), ok.tensor().data);
    if (std::ranges::count(found, 1) != std::ssize(found))
      throw DeviceError("a sampler left rows without a token");
  }

  Backend& backend;
  TensorType type;
  std::size_t copies;
  DeviceBuffer values;
  PerRow seed, step, token, ok, rounds;
};

/// `axis`: what the case ids of the kernel call the dtype of its rows.
void time_sampler(benchmark::State& state, Bench& bench, std::string_view axis,
                  const SamplerData& data, const std::function<std::string(std::size_t)>& launch) {
  set_label(state, fmt::format("{}={}", axis, name(data.type.dtype)), launch(0));
  data.require_tokens();
  time_cold(state, bench.device, data.type.bytes(), data.copies, launch);
}

void gumbel(Bench& bench, const SamplerShape& shape, benchmark::State& state) {
  const SamplerData data(bench, shape, [](double normal) { return 2 * normal; });
  const PerRow temperature(data.backend, Dtype::f32, shape.rows, 0.7f);
  time_sampler(state, bench, "logits", data, [&](std::size_t copy) {
    return gumbel_max_sample(bench.device.runtime(), {.logits = data.copy(copy),
                                                      .temperature = temperature.tensor(),
                                                      .seed = data.seed.tensor(),
                                                      .step = data.step.tensor(),
                                                      .token = data.token.tensor(),
                                                      .ok = data.ok.tensor(),
                                                      .splits = shape.splits});
  });
}

/// The usual filters: top_k 50, top_p 0.9, min_p off.
void rejection(Bench& bench, const SamplerShape& shape, FilterOrder order,
               benchmark::State& state) {
  const SamplerData data(bench, shape, [](double normal) { return std::exp(3 * normal); });
  const PerRow top_k(data.backend, Dtype::i32, shape.rows, std::int32_t{50});
  const PerRow top_p(data.backend, Dtype::f32, shape.rows, 0.9f);
  const PerRow min_p(data.backend, Dtype::f32, shape.rows, 0.0f);
  time_sampler(state, bench, "probs", data, [&](std::size_t copy) {
    return rejection_sample(bench.device.runtime(), {.probs = data.copy(copy),
                                                     .draw = {},
                                                     .top_k = top_k.tensor(),
                                                     .top_p = top_p.tensor(),
                                                     .min_p = min_p.tensor(),
                                                     .seed = data.seed.tensor(),
                                                     .step = data.step.tensor(),
                                                     .token = data.token.tensor(),
                                                     .ok = data.ok.tensor(),
                                                     .rounds = data.rounds.tensor(),
                                                     .order = order,
                                                     .splits = shape.splits});
  });
}

}  // namespace

void add_sampler_benches(Bench& bench) {
  for (const SamplerShape& shape : shapes(bench.device)) {
    bench
        .add("gumbel_max_sample/" + shape.name(),
             [&bench, shape](benchmark::State& state) { gumbel(bench, shape, state); })
        ->UseManualTime();
    for (const auto& [name, order] : {std::pair("joint", FilterOrder::joint),
                                      std::pair("top_k_first", FilterOrder::top_k_first)})
      bench
          .add(fmt::format("rejection_sample/{}/{}", shape.name(), name),
               [&bench, shape, order](benchmark::State& state) {
                 rejection(bench, shape, order, state);
               })
          ->UseManualTime();
  }
}

}  // namespace parity
