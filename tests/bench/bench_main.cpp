// parity_bench: benches of Google Benchmark on the backend that --backend names. Called as
// `parity_bench worker` it is the worker whose cost it measures.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/file_lock.hpp"
#include "harness/paths.hpp"
#include "harness/worker.hpp"
#include "tests/bench/benches.hpp"

namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kInfrastructure = 5;

parity::BackendKind parse_backend(const std::string& word) {
  if (word == "auto") return parity::BackendKind::automatic;
  if (word == "cuda") return parity::BackendKind::cuda;
  if (word == "host") return parity::BackendKind::host;
  throw parity::UsageError("--backend is '" + word + "', but must be cuda, host or auto");
}

/// Takes --backend out of the arguments; Google Benchmark gets the rest.
parity::BackendKind take_backend(std::vector<std::string>& arguments) {
  constexpr std::string_view kFlag = "--backend";
  std::string word = "auto";
  for (std::size_t i = 1; i < arguments.size();) {
    const bool apart = arguments[i] == kFlag;
    if (!apart && !arguments[i].starts_with(std::string(kFlag) + "=")) {
      ++i;
      continue;
    }
    if (apart && i + 1 == arguments.size())
      throw parity::UsageError(
          "--backend is the last argument; it must be followed by cuda, host or auto");
    word = apart ? arguments[i + 1] : arguments[i].substr(kFlag.size() + 1);
    const auto at = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    arguments.erase(at, at + (apart ? 2 : 1));
  }
  return parse_backend(word);
}

/// False where an argument is none of Google Benchmark's, which keeps pointers into `arguments`.
bool initialize(std::vector<std::string>& arguments) {
  // Kernels take microseconds: a tenth of a second is thousands of runs. A later flag wins.
  arguments.insert(arguments.begin() + 1, "--benchmark_min_time=0.1");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  benchmark::Initialize(&count, pointers.data());
  return !benchmark::ReportUnrecognizedArguments(count, pointers.data());
}

void describe(parity::BenchDevice& device) {
  const parity::Backend& backend = device.runtime().backend();
  benchmark::AddCustomContext("backend", std::string(backend.name()));
  benchmark::AddCustomContext("device", backend.identity().name);
  benchmark::AddCustomContext("arch", backend.identity().architecture);
  benchmark::AddCustomContext("driver", backend.identity().driver);
  for (const std::size_t bytes : parity::kernel_bench_bytes(device))
    benchmark::AddCustomContext(fmt::format("ceiling_{}_bytes", bytes),
                                fmt::format("{:.1f} GB/s", static_cast<double>(bytes) * 1e-9 /
                                                               device.ceiling_seconds(bytes)));
}

int run(std::vector<std::string> arguments) {
  if (arguments.size() == 2 && arguments[1] == "worker") return parity::run_worker();
  const parity::BackendKind kind = take_backend(arguments);
  if (!initialize(arguments)) return kUsage;
  const parity::Descriptor modules_held = parity::hold_shared(parity::paths().modules_lock);
  parity::Bench bench{.device = {kind, parity::paths().modules}};
  describe(bench.device);
  parity::add_kernel_benches(bench);
  parity::add_cascade_benches(bench);
  parity::add_sampler_benches(bench);
  parity::add_harness_benches(bench);
  if (benchmark::RunSpecifiedBenchmarks() == 0) return kUsage;  // which says so itself
  return bench.failed ? kFailed : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv, argv + argc});
  } catch (const parity::UsageError& error) {
    std::fprintf(stderr, "parity_bench: %s\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "parity_bench: %s\n", error.what());
    return kInfrastructure;
  }
}
