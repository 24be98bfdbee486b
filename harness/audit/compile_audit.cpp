// Chooses modules, compiles each for each architecture, and compares with what the specs allow.
#include "harness/audit/compile_audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"
#include "device/no_device.hpp"
#include "device/toolchain.hpp"
#include "harness/case.hpp"
#include "harness/kernels/launch_variant.hpp"

namespace parity {
namespace {

/// Throws UsageError for an architecture that NVRTC does not know.
ToolchainIdentity toolchain_for(const std::string& architecture) {
  try {
    ToolchainIdentity identity = make_nvrtc_toolchain(architecture)->identity();
    // Only a compilation tells whether it knows the letter behind the number.
    nvrtc_resources("extern \"C\" __global__ void nothing() {}\n", "nothing.cu", identity);
    return identity;
  } catch (const NoDevice&) {
    throw;
  } catch (const CompileError&) {
    throw UsageError(fmt::format(
        "NVRTC knows no architecture '{}'; name it as in sm_80, sm_90a or sm_100a", architecture));
  } catch (const DeviceError& error) {
    throw UsageError(error.what());
  }
}

/// Modules of the selected smoke cases, then the sample of all others; each once.
std::vector<VariantSpec> chosen_modules(std::span<const KernelSpec> kernels,
                                        const CompileChoice& choice) {
  std::set<VariantSpec> chosen;
  for (const Case& c : select(suite_cases(kernels, Suite::smoke), choice.filters))
    for (VariantSpec& module : c.spec->modules(c)) chosen.insert(std::move(module));
  std::vector<VariantSpec> modules(chosen.begin(), chosen.end());
  if (choice.sample == 0) return modules;
  std::map<std::uint64_t, VariantSpec> others;  // by chance, but the same chance everywhere
  for (const KernelSpec& kernel : kernels)
    for (const LaunchVariant& variant : variants_of(kernel))
      if (!chosen.contains(variant.spec))
        others.emplace(stable_hash(fmt::format("{} {}", choice.seed, variant.spec.canonical())),
                       variant.spec);
  for (const auto& [hash, spec] : others) {
    if (modules.size() == chosen.size() + choice.sample) break;
    modules.push_back(spec);
  }
  std::ranges::sort(modules);
  return modules;
}

/// Calls `work(i)` for every i below `count` on all cores; the first exception comes out.
template <class Work>
void on_all_cores(std::size_t count, Work work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) try {
        work(i);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back(run);
  }
  if (failure) std::rethrow_exception(failure);
}

struct Compiled {
  KernelResources resources;
  std::string refused;
};

Compiled compile(const VariantSpec& spec, const ToolchainIdentity& toolchain,
                 const KernelTexts& texts) {
  try {
    return {nvrtc_resources(render(spec, texts), spec.canonical() + ".cu", toolchain), ""};
  } catch (const CompileError& error) {
    return {{}, first_error(error.what())};
  }
}

void raise(KernelResources& worst, const KernelResources& other) {
  worst.registers = std::max(worst.registers, other.registers);
  worst.shared_bytes = std::max(worst.shared_bytes, other.shared_bytes);
  worst.stack_bytes = std::max(worst.stack_bytes, other.stack_bytes);
  worst.spill_stores = std::max(worst.spill_stores, other.spill_stores);
  worst.spill_loads = std::max(worst.spill_loads, other.spill_loads);
}

std::int64_t local_bytes(std::span<const KernelSpec> kernels, const std::string& kernel) {
  const auto spec = std::ranges::find(kernels, kernel, &KernelSpec::name);
  return spec == kernels.end() ? 0 : spec->local_bytes;
}

bool uses_more(const KernelResources& used, std::int64_t allowed) {
  return std::max({used.stack_bytes, used.spill_stores, used.spill_loads}) > allowed;
}

}  // namespace

CompileAudit compile_audit(std::span<const KernelSpec> kernels, const CompileChoice& choice,
                           const KernelTexts& texts) {
  std::vector<ToolchainIdentity> toolchains;
  for (const std::string& architecture : choice.architectures)
    toolchains.push_back(toolchain_for(architecture));
  const std::vector<VariantSpec> modules = chosen_modules(kernels, choice);
  std::vector<Compiled> compiled(modules.size() * toolchains.size());
  on_all_cores(compiled.size(), [&](std::size_t i) {
    compiled[i] = compile(modules[i / toolchains.size()], toolchains[i % toolchains.size()], texts);
  });

  CompileAudit audit{.modules = modules.size(), .worst = {}, .faults = {}};
  std::map<std::pair<std::string, std::size_t>, WorstFigures> worst;
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    const VariantSpec& spec = modules[i / toolchains.size()];
    const std::size_t at = i % toolchains.size();
    WorstFigures& figures = worst[{spec.kernel, at}];
    figures.kernel = spec.kernel;
    figures.architecture = choice.architectures[at];
    ++figures.modules;
    raise(figures.resources, compiled[i].resources);
    const std::int64_t allowed = local_bytes(kernels, spec.kernel);
    if (!compiled[i].refused.empty() || uses_more(compiled[i].resources, allowed))
      audit.faults.push_back(
          {spec, figures.architecture, compiled[i].refused, compiled[i].resources, allowed});
  }
  for (auto& [key, figures] : worst) audit.worst.push_back(std::move(figures));
  return audit;
}

}  // namespace parity
