// Speed of each kernel against the read-only ceiling of the same bytes.
#include <fmt/format.h>

#include <utility>

#include "device/paged_decode_v1.hpp"
#include "device/paged_decode_v2.hpp"
#include "device/split_kv_merge.hpp"
#include "tests/bench/benches.hpp"

namespace parity {
namespace {

struct DecodeBench {
  DecodeShape shape;
  std::vector<std::int64_t> sweep;  ///< pages per chunk beside auto
};

DecodeShape shape_of(std::int64_t rows, std::int64_t tokens, std::int64_t heads,
                     std::int64_t kv_heads, std::int64_t head_dim) {
  return {
      .rows = rows, .tokens = tokens, .heads = heads, .kv_heads = kv_heads, .head_dim = head_dim};
}

std::vector<DecodeBench> decode_cases(const BenchDevice& device) {
  if (!device.on_gpu())
    return {{shape_of(2, 64, 8, 2, 64), {}}, {shape_of(1, 256, 8, 2, 64), {1, 4}}};
  const std::vector<std::int64_t> sweep = {1, 2, 4, 8, 16, 32, 64, 128};
  const auto with = [](DecodeShape shape, Dtype pool, std::int64_t tile) {
    shape.pool = pool;
    shape.tile = tile;
    return shape;
  };
  const DecodeShape batch = shape_of(32, 4096, 32, 8, 128);
  const DecodeShape one_head = shape_of(32, 4096, 8, 8, 128);
  return {{batch, {}},
          {with(batch, Dtype::e4m3, 4), {}},
          {with(one_head, Dtype::bf16, 4), {}},
          {with(one_head, Dtype::bf16, 8), {}},
          {with(one_head, Dtype::e4m3, 4), {}},
          {with(one_head, Dtype::e4m3, 8), {}},
          {shape_of(8, 16384, 32, 8, 128), sweep},
          {shape_of(1, 131072, 32, 8, 128), sweep},
          {shape_of(1, 1024, 32, 4, 128), sweep}};
}

void decode_v1(Bench& bench, const DecodeShape& shape, benchmark::State& state) {
  const DecodeData& data = bench.decode_data(shape);
  Runtime& runtime = bench.device.runtime();
  const auto launch = [&](std::size_t copy) { return paged_decode_v1(runtime, data.args(copy)); };
  const PagedDecodeArgs first = data.args(0);
  launch_and_check(state, runtime.backend(), dtypes_of(first), launch, first.out, first.lse);
  time_cold(state, bench.device, shape.bytes(), data.copies(), launch);
}

void decode_v2(Bench& bench, const DecodeShape& shape, std::int64_t pages_per_chunk,
               benchmark::State& state) {
  const DecodeData& data = bench.decode_data(shape);
  Runtime& runtime = bench.device.runtime();
  const PagedDecodeArgs first = data.args(0);
  const PagedDecodeV2Plan plan(runtime, first, data.table(0), pages_per_chunk);
  const auto launch = [&](std::size_t copy) {
    return paged_decode_v2(runtime, data.args(copy), plan);
  };
  launch_and_check(state, runtime.backend(), dtypes_of(first), launch, first.out, first.lse);
  time_cold(state, bench.device, shape.bytes(), data.copies(), launch);
}

/// The merge that paged_decode_v2 at ppc auto makes of this shape.
void merge(Bench& bench, const DecodeShape& shape, benchmark::State& state) {
  const DecodeData& decode = bench.decode_data(shape);
  Runtime& runtime = bench.device.runtime();
  const PagedDecodeV2Plan plan(runtime, decode.args(0), decode.table(0), kAutoPagesPerChunk);
  const MergeData data(runtime.backend(), plan.split().o_indptr, shape.heads, shape.head_dim,
                       bench.device.rotation_bytes());
  const auto launch = [&](std::size_t copy) { return split_kv_merge(runtime, data.args(copy)); };
  const SplitKvMergeArgs first = data.args(0);
  const std::string dtypes =
      fmt::format("v={},out={}", name(first.v.type.dtype), name(first.out.type.dtype));
  launch_and_check(state, runtime.backend(), dtypes, launch, first.out, first.lse_out);
  set_label(state, dtypes,
            fmt::format("{} partials of {} rows", plan.split().chunks(), shape.rows));
  time_cold(state, bench.device, data.bytes(), data.copies(), launch);
}

}  // namespace

void time_cold(benchmark::State& state, BenchDevice& device, std::size_t bytes, std::size_t copies,
               const std::function<std::string(std::size_t)>& launch) {
  double total = 0;
  std::size_t copy = 0;
  for (auto _ : state) {
    const double seconds = device.cold_seconds([&] { launch(copy); });
    state.SetIterationTime(seconds);
    total += seconds;
    copy = (copy + 1) % copies;
  }
  const double mean = total / static_cast<double>(state.iterations());
  const double ceiling = device.ceiling_seconds(bytes);
  const auto gigabytes = static_cast<double>(bytes) * 1e-9;
  state.counters["bytes"] = static_cast<double>(bytes);
  state.counters["GB/s"] = gigabytes / mean;
  state.counters["ceiling"] = gigabytes / ceiling;
  state.counters["of_ceiling"] = ceiling / mean;
}

void set_label(benchmark::State& state, const std::string& dtypes, const std::string& words) {
  state.SetLabel(fmt::format("dtypes:{} {}", dtypes, words));
}

std::string dtypes_of(const PagedDecodeArgs& args) {
  return fmt::format("q={},k={},v={}", name(args.q.type.dtype), name(args.k.pages.type.dtype),
                     name(args.v.pages.type.dtype));
}

void launch_and_check(benchmark::State& state, Backend& backend, const std::string& dtypes,
                      const std::function<std::string(std::size_t)>& launch,
                      const DeviceTensor& out, const DeviceTensor& lse) {
  for (const DeviceTensor& output : {out, lse})
    backend.fill(output.data, std::byte{0xff}, output.type.bytes());
  set_label(state, dtypes, launch(0));
  require_plausible(backend, "out", out);
  require_plausible(backend, "lse", lse);
}

const DecodeData& Bench::decode_data(const DecodeShape& shape) {
  if (decode && decode->shape() == shape) return *decode;
  decode.reset();  // first, so that both need not fit at once
  return decode.emplace(device.runtime().backend(), shape, device.rotation_bytes());
}

benchmark::internal::Benchmark* Bench::add(const std::string& name,
                                           std::function<void(benchmark::State&)> body) {
  const auto guarded = [this, body = std::move(body)](benchmark::State& state) {
    try {
      body(state);
    } catch (const std::exception& error) {
      failed = true;
      state.SkipWithError(error.what());
    }
  };
  return benchmark::RegisterBenchmark(name.c_str(), guarded)->Unit(benchmark::kMicrosecond);
}

std::vector<std::size_t> kernel_bench_bytes(const BenchDevice& device) {
  std::vector<std::size_t> bytes;
  for (const DecodeBench& c : decode_cases(device)) bytes.push_back(c.shape.bytes());
  return bytes;
}

void add_kernel_benches(Bench& bench) {
  const auto add = [&bench](const std::string& name, auto body) {
    bench.add(name, std::move(body))->UseManualTime();
  };
  for (const DecodeBench& c : decode_cases(bench.device)) {
    const DecodeShape shape = c.shape;
    const std::string name = shape.name();
    add("paged_decode_v1/" + name,
        [&bench, shape](benchmark::State& state) { decode_v1(bench, shape, state); });
    std::vector<std::int64_t> lengths = {kAutoPagesPerChunk};
    lengths.insert(lengths.end(), c.sweep.begin(), c.sweep.end());
    for (const std::int64_t length : lengths) {
      const std::string ppc = length == kAutoPagesPerChunk ? "auto" : std::to_string(length);
      add(fmt::format("paged_decode_v2/{}/ppc:{}", name, ppc),
          [&bench, shape, length](benchmark::State& state) {
            decode_v2(bench, shape, length, state);
          });
    }
    add("split_kv_merge/" + name,
        [&bench, shape](benchmark::State& state) { merge(bench, shape, state); });
  }
}

}  // namespace parity
