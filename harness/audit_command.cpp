// harness audit: the keys of every module, and with --compile what modules take of a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "device/faults.hpp"
#include "device/module_cache.hpp"
#include "device/no_device.hpp"
#include "device/toolchain.hpp"
#include "harness/audit/compile_audit.hpp"
#include "harness/audit/key_audit.hpp"
#include "harness/commands.hpp"
#include "harness/plants/plants.hpp"

namespace parity {
namespace {

constexpr int kFailed = 1;
constexpr int kOrderDependent = 3;
constexpr std::size_t kShown = 8;
/// Any that NVRTC knows would do: keys hold whatever the toolchain says of itself.
constexpr const char* kArchitecture = "sm_90a";

/// Those that are there; none has to be.
std::vector<ToolchainIdentity> known_toolchains() {
  std::vector<ToolchainIdentity> known;
  try {
    known.push_back(make_host_toolchain()->identity());
  } catch (const DeviceError&) {  // No compiler: said by the line that names the toolchains.
  }
  try {
    known.push_back(make_nvrtc_toolchain(kArchitecture)->identity());
  } catch (const NoDevice&) {  // Built without CUDA: likewise.
  }
  return known;
}

std::string toolchain_names(const std::vector<ToolchainIdentity>& toolchains) {
  std::string names;
  for (const ToolchainIdentity& id : toolchains)
    names += fmt::format("{}{} {} for {}", names.empty() ? "" : "; ", id.name, id.version,
                         id.architecture);
  return names;
}

void print_fault(const KeyFault& fault) {
  fmt::print("\n{}: {} ({} keys)\n  key        {}\n  first      {}\n", fault.kernel, fault.what,
             fault.keys, fault.key, fault.first);
  if (!fault.second.empty()) fmt::print("  second     {}\n", fault.second);
  const std::size_t shown = std::min(kShown, fault.exposed.size());
  for (std::size_t i = 0; i < shown; ++i)
    fmt::print("  {:<10} {}\n", i == 0 ? "exposed" : "", fault.exposed[i]);
  if (shown < fault.exposed.size())
    fmt::print("  {:<10} and {} more, {} in all\n", "", fault.exposed.size() - shown,
               fault.exposed.size());
}

int audit_the_keys(const Options& options) {
  const Faults faults = faults_of(options.plants);
  require_variants(registry());
  std::vector<ToolchainIdentity> toolchains = known_toolchains();
  const std::string names = toolchain_names(toolchains);
  if (toolchains.empty()) toolchains.push_back({"none", "0", "none", {}});
  const KeyAudit audit = audit_keys(
      registry(), toolchains,
      [&](const VariantSpec& spec, const Digest& text, const ToolchainIdentity& toolchain) {
        return make_module_key(spec, text, toolchain, faults);
      });
  for (const KeyCount& count : audit.kernels)
    fmt::print("{:<20} {:>6} variants, {:>6} distinct keys\n", count.kernel, count.variants,
               count.keys);
  fmt::print(
      "keys made for {}\n",
      names.empty() ? "a made-up toolchain: there is neither a C++ compiler nor NVRTC" : names);
  for (const KeyFault& fault : audit.faults) print_fault(fault);
  fmt::print("{}\n", audit.faults.empty()
                         ? "every variant has a key of its own"
                         : fmt::format("\n{} fault(s) of keys", audit.faults.size()));
  return audit.faults.empty() ? 0 : kOrderDependent;
}

void print_fault(const ModuleFault& fault) {
  const KernelResources& r = fault.resources;
  const std::string module = fmt::format("{} for {}", fault.spec.canonical(), fault.architecture);
  if (fault.refused.empty())
    fmt::print(
        "\n{}: {} registers, {} B of local memory a thread, {} B of spill stores, {} B of spill "
        "loads; its kernel's spec allows {} B\n",
        module, r.registers, r.stack_bytes, r.spill_stores, r.spill_loads, fault.allowed);
  else
    fmt::print("\n{} does not compile: {}\n", module, fault.refused);
}

int audit_the_code(const Options& options) {
  const CompileAudit audit = compile_audit(registry(), {.architectures = options.compile,
                                                        .filters = options.filters,
                                                        .sample = options.sample,
                                                        .seed = options.seed});
  fmt::print("{:<16} {:<9} {:>7} {:>9} {:>8} {:>7} {:>7} {:>7}\n", "worst of", "for", "modules",
             "registers", "shared B", "local B", "stored", "loaded");
  for (const auto& [kernel, architecture, modules, r] : audit.worst)
    fmt::print("{:<16} {:<9} {:>7} {:>9} {:>8} {:>7} {:>7} {:>7}\n", kernel, architecture, modules,
               r.registers, r.shared_bytes, r.stack_bytes, r.spill_stores, r.spill_loads);
  for (const ModuleFault& fault : audit.faults) print_fault(fault);
  return audit.faults.empty() ? 0 : kFailed;
}

}  // namespace

int audit_command(const Options& options) {
  return options.compile.empty() ? audit_the_keys(options) : audit_the_code(options);
}

}  // namespace parity
