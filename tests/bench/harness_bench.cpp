// What the harness itself costs: a worker's start, one run in it, the reference and the judge, and
// what a launch costs the host.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "device/environment.hpp"
#include "device/floating_point_environment.hpp"
#include "device/kernel_text.hpp"
#include "device/paged_decode_v1.hpp"
#include "device/paged_decode_v2.hpp"
#include "device/working_directory.hpp"
#include "harness/case.hpp"
#include "harness/judge.hpp"
#include "harness/kernels/paged_decode_expectation.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"
#include "harness/pack_builder.hpp"
#include "harness/paths.hpp"
#include "harness/protocol.hpp"
#include "harness/worker_process.hpp"
#include "harness/worker_watch.hpp"
#include "reference/paged_decode.hpp"
#include "tests/bench/benches.hpp"
#include "tests/fake_device.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

constexpr std::chrono::milliseconds kLimit{120000};
constexpr std::chrono::milliseconds kFarewell{2000};

/// A smoke geometry; the recipe follows.
Case decode_case(const std::string& recipe) {
  return parse_case(registry(),
                    "paged_decode_v1/q=bf16,k=bf16,v=bf16/d=64,hq=8,hkv=2,page=16/" + recipe);
}

/// This program as a worker, with a pack of one case.
class WorkerBench {
 public:
  explicit WorkerBench(std::string backend)
      : case_(decode_case("ragged")),
        packs_(ensure_packs(std::span(&case_, 1), folder_.path() / "packs",
                            {.build = "bench", .reference = "bench"})),
        backend_(std::move(backend)) {
    std::filesystem::create_directory(blobs());
  }

  std::string id() const { return case_.id(); }
  std::unique_ptr<WorkerProcess> greeted() const {
    auto worker = std::make_unique<WorkerProcess>(WorkerCommand{
        .command = "'" + program_path().string() + "' worker", .log = folder_.path() / "log"});
    const Hello hello{.pack = packs_.inputs.string(),
                      .blobs = blobs().string(),
                      .modules = paths().modules.string(),
                      .backend = backend_,
                      .plants = {}};
    parse_hello_reply(ask(*worker, hello_request(hello)));
    return worker;
  }
  /// Throws DeviceError where there is no answer.
  static std::string ask(WorkerProcess& worker, const std::string& request) {
    Reply reply = worker.request(request, kLimit);
    if (reply.kind != Reply::Kind::answered)
      throw DeviceError("the worker did not answer: " + reply.detail);
    return std::move(reply.line);
  }

 private:
  std::filesystem::path blobs() const { return folder_.path() / "blobs"; }

  TemporaryFolder folder_;
  Case case_;
  PackPaths packs_;
  std::string backend_;
};

void worker_start(const std::string& backend, benchmark::State& state) {
  const WorkerBench bench(backend);
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    const auto worker = bench.greeted();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    state.SetIterationTime(passed.count());
    worker->finish(bye_request(), kFarewell);
  }
}

void worker_run(const std::string& backend, benchmark::State& state) {
  const WorkerBench bench(backend);
  const auto worker = bench.greeted();
  const auto run = [&](unsigned poison) {
    const Outcome outcome =
        parse_run_reply(WorkerBench::ask(*worker, run_request(bench.id(), poison)));
    if (outcome.status != Status::ok) throw DeviceError("the run went wrong: " + outcome.detail);
  };
  run(0);  // compiles, reads the pack, stores the outputs
  unsigned poison = 0;
  for (auto _ : state) run(poison ^= 1u);
  worker->finish(bye_request(), kFarewell);
}

/// Before and after a run: whether ambient state has changed.
void look_around(benchmark::State& state) {
  const Environment environment;
  const WorkingDirectory directory;
  const FloatingPointEnvironment mode;
  WorkerWatch watch({&environment, &directory, &mode});
  const std::vector<RunRequest> one = {{"a", 0}};
  std::vector<Outcome> outcomes(1);
  for (auto _ : state) {
    watch.begin();
    watch.end(one, outcomes);
  }
}

void judge_one(benchmark::State& state) {
  const PackOutput want = build_case(decode_case("ragged")).outputs.at(0);
  Tensor got(want.type);
  for (std::int64_t i = 0; i < got.elements(); ++i) got.set(i, want.expected->at(i));
  for (auto _ : state) {
    const Judgement judgement = judge_output(want, got);
    if (judgement.verdict != Verdict::passed) throw std::runtime_error(judgement.detail);
  }
}

void reference(const std::string& recipe, benchmark::State& state) {
  const Case c = decode_case(recipe);
  const TensorList inputs = paged_decode_inputs(c);
  const PagedDecodeProblem problem = paged_decode_problem(c, inputs);
  for (auto _ : state) benchmark::DoNotOptimize(paged_decode(problem));
}

/// A runtime on which launches do nothing: what is left is the host's work.
class IdleRuntime {
 public:
  IdleRuntime()
      : runtime_(std::make_unique<FakeBackend>(), std::make_unique<FakeToolchain>(),
                 folder_.path()) {}
  Runtime& operator*() { return runtime_; }
  Runtime* operator->() { return &runtime_; }

 private:
  TemporaryFolder folder_;
  Runtime runtime_;
};

constexpr DecodeShape kLaunchShape{
    .rows = 8, .tokens = 64, .heads = 32, .kv_heads = 8, .head_dim = 128};

void module_hit(benchmark::State& state) {
  IdleRuntime runtime;
  const VariantSpec variant =
      paged_decode_v1_variant({Dtype::bf16, Dtype::bf16, Dtype::bf16, Dtype::bf16, 128, 4});
  for (auto _ : state) {
    runtime->trace().begin("bench");
    benchmark::DoNotOptimize(runtime->modules().share(variant, runtime->trace()));
  }
}

/// A real image, found, marked and read through to its checksum. Compiled before the clock starts.
void disk_cache_hit(Runtime& runtime, benchmark::State& state) {
  const std::string text =
      render(paged_decode_v1_variant({Dtype::bf16, Dtype::bf16, Dtype::bf16, Dtype::bf16, 128, 4}));
  const auto hit = [&] { return runtime.disk_cache().image(text, runtime.toolchain()); };
  state.counters["image_bytes"] = static_cast<double>(std::filesystem::file_size(hit()));
  for (auto _ : state) benchmark::DoNotOptimize(hit());
}

void launch_v1(benchmark::State& state) {
  IdleRuntime runtime;
  const DecodeData data(runtime->backend(), kLaunchShape, 0);
  const PagedDecodeArgs args = data.args(0);
  for (auto _ : state) {
    runtime->trace().begin("bench");
    benchmark::DoNotOptimize(paged_decode_v1(*runtime, args));
  }
}

void launch_v2(benchmark::State& state) {
  IdleRuntime runtime;
  const DecodeData data(runtime->backend(), kLaunchShape, 0);
  const PagedDecodeArgs args = data.args(0);
  const PagedDecodeV2Plan plan(*runtime, args, data.table(0), 1);
  for (auto _ : state) {
    runtime->trace().begin("bench");
    benchmark::DoNotOptimize(paged_decode_v2(*runtime, args, plan));
  }
}

}  // namespace

void add_harness_benches(Bench& bench) {
  const std::string backend(bench.device.runtime().backend().name());
  bench
      .add("worker/start_and_hello",
           [backend](benchmark::State& state) { worker_start(backend, state); })
      ->UseManualTime();
  bench.add("worker/one_run", [backend](benchmark::State& state) { worker_run(backend, state); })
      ->UseRealTime();
  bench.add("worker/look_around", look_around);
  bench.add("judge/one_output", judge_one);
  for (const std::string recipe : {"ragged", "long"})
    bench.add("reference/paged_decode/" + recipe,
              [recipe](benchmark::State& state) { reference(recipe, state); });
  bench.add("host_cost/module_cache_hit", module_hit);
  bench.add("host_cost/disk_cache_hit",
            [&bench](benchmark::State& state) { disk_cache_hit(bench.device.runtime(), state); });
  bench.add("host_cost/paged_decode_v1", launch_v1);
  bench.add("host_cost/paged_decode_v2_with_merge", launch_v2);
}

}  // namespace parity
