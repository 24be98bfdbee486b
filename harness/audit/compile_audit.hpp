// What modules take of a GPU, compiled for any architecture without one: registers, shared and
// local memory of the smoke cases' modules and of a sample of all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/kernel_resources.hpp"
#include "device/kernel_text.hpp"
#include "device/variant.hpp"
#include "harness/kernel_spec.hpp"

namespace parity {

struct CompileChoice {
  std::vector<std::string> architectures;  ///< "sm_90a"
  std::vector<std::string> filters = {};   ///< of smoke cases, as select() takes them
  std::size_t sample = 0;                  ///< modules beyond those of smoke cases
  std::uint64_t seed = 0;                  ///< of the sample
};

/// The worst of a kernel's modules on one architecture; each figure may be another module's.
struct WorstFigures {
  std::string kernel;
  std::string architecture;
  std::size_t modules = 0;
  KernelResources resources;
};

/// A module that does not compile, or uses more local memory than its kernel's spec allows.
struct ModuleFault {
  VariantSpec spec;
  std::string architecture;
  std::string refused;  ///< what the compiler said; empty: it compiled
  KernelResources resources;
  std::int64_t allowed = 0;  ///< KernelSpec::local_bytes
};

struct CompileAudit {
  std::size_t modules = 0;          ///< compiled for each architecture
  std::vector<WorstFigures> worst;  ///< by kernel, then architecture as chosen
  std::vector<ModuleFault> faults;  ///< by module, then architecture as chosen
};

/// Compiles on all cores. Equal choices give equal results, in equal order. Throws UsageError for
/// an architecture that NVRTC does not know, for filters that leave no case, and for a kernel
/// without variants where there is a sample; DeviceError in a build without CUDA.
CompileAudit compile_audit(std::span<const KernelSpec> kernels, const CompileChoice& choice,
                           const KernelTexts& texts = kernel_texts());

}  // namespace parity
