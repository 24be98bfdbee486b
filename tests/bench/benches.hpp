// All benches by room, registered with Google Benchmark by name; what they share lives in a Bench.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/bench_data.hpp"
#include "tests/bench/bench_device.hpp"

namespace parity {

struct Bench {
  BenchDevice device;
  /// Of the shape that was asked for last, so that benches of one shape share it.
  std::optional<DecodeData> decode = {};
  /// Some bench ended in an error.
  bool failed = false;

  const DecodeData& decode_data(const DecodeShape& shape);

  /// Registers `body`; what it throws becomes the bench's error. Unit: µs. `this` must live until
  /// the benches have run.
  benchmark::internal::Benchmark* add(const std::string& name,
                                      std::function<void(benchmark::State&)> body);
};

/// Times `launch(copy)`, which returns the resolved plan, over copies in turn. Counters: `bytes`
/// that must be moved, `GB/s`, `ceiling` (GB/s of reading as many bytes once) and `of_ceiling`.
void time_cold(benchmark::State& state, BenchDevice& device, std::size_t bytes, std::size_t copies,
               const std::function<std::string(std::size_t)>& launch);

/// The bench's label: "dtypes:q=bf16,k=e4m3,v=e4m3", as the kernel's cases have them, for reports;
/// then words for people, such as the resolved plan.
void set_label(benchmark::State& state, const std::string& dtypes, const std::string& words);

/// "q=bf16,k=e4m3,v=e4m3"
std::string dtypes_of(const PagedDecodeArgs& args);

/// The first launch compiles; its outputs, NaN before it, tell a kernel that does not work.
void launch_and_check(benchmark::State& state, Backend& backend, const std::string& dtypes,
                      const std::function<std::string(std::size_t)>& launch,
                      const DeviceTensor& out, const DeviceTensor& lse);

/// Bytes that the decode kernels' benches move, whose ceilings are worth showing.
std::vector<std::size_t> kernel_bench_bytes(const BenchDevice& device);

/// paged_decode_v1, paged_decode_v2 (auto, and a sweep of pages per chunk) and split_kv_merge.
void add_kernel_benches(Bench& bench);

/// paged_decode_cascade and paged_decode_sparse.
void add_cascade_benches(Bench& bench);

/// gumbel_max_sample and rejection_sample.
void add_sampler_benches(Bench& bench);

/// The reference, the judge, a worker's start and one run in it, a launch's cost on the host.
void add_harness_benches(Bench& bench);

}  // namespace parity
