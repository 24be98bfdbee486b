// The runtime a production engine would hold: owns the backend, the toolchain and every carrier.
// There is no mutable state outside it.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "device/backend.hpp"
#include "device/carrier.hpp"
#include "device/disk_cache.hpp"
#include "device/faults.hpp"
#include "device/module_cache.hpp"
#include "device/toolchain.hpp"
#include "device/trace.hpp"

namespace parity {

class Runtime {
 public:
  /// `module_folder` is where the disk cache lives.
  Runtime(std::unique_ptr<Backend> backend, std::unique_ptr<Toolchain> toolchain,
          const std::filesystem::path& module_folder, Faults faults = {});

  Backend& backend() { return *backend_; }
  const Toolchain& toolchain() const { return *toolchain_; }
  DiskCache& disk_cache() { return disk_; }
  ModuleCache& modules() { return modules_; }
  Trace& trace() { return trace_; }
  const Faults& faults() const { return faults_; }

  /// Every carrier that can be probed.
  std::vector<Carrier*> carriers() { return {&modules_}; }

  /// The factor that the plant `drift` puts on scores, given this launch's value dtype: 1 unless
  /// planted.
  float score_drift(Dtype value_dtype);

 private:
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Toolchain> toolchain_;
  Faults faults_;
  DiskCache disk_;
  ModuleCache modules_;
  Trace trace_;
  bool drifted_ = false;
};

enum class BackendKind : std::uint8_t { automatic, cuda, host };

/// `automatic` takes CUDA where a device answers, else the host. Throws DeviceError saying what is
/// missing.
std::unique_ptr<Runtime> make_runtime(BackendKind kind, const std::filesystem::path& module_folder,
                                      Faults faults = {});

}  // namespace parity
