// What a compiled kernel takes of a multiprocessor, as ptxas reports it. Needs no GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "device/variant.hpp"

namespace parity {

/// The worst over the functions of one module.
struct KernelResources {
  std::int64_t registers = 0;     ///< of a thread
  std::int64_t shared_bytes = 0;  ///< of a block, without dynamic shared memory
  std::int64_t stack_bytes = 0;   ///< local memory of a thread, spilled registers among it
  std::int64_t spill_stores = 0;  ///< bytes of a thread
  std::int64_t spill_loads = 0;   ///< bytes of a thread

  bool operator==(const KernelResources&) const = default;
};

/// Reads what ptxas prints with -v. Throws DeviceError where it does not say all of each kernel.
KernelResources read_ptxas_report(std::string_view log);

/// Compiles `text` exactly as the NVRTC toolchain of that identity does. Thread-safe. Throws
/// CompileError, or DeviceError in a build without CUDA.
KernelResources nvrtc_resources(const std::string& text, const std::string& source_path,
                                const ToolchainIdentity& toolchain);

}  // namespace parity
