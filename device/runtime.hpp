// The runtime a production engine would hold: owns the backend, the toolchain and every carrier.
// There is no mutable state outside it.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "device/backend.hpp"
#include "device/carrier.hpp"
#include "device/device_tensor.hpp"
#include "device/disk_cache.hpp"
#include "device/faults.hpp"
#include "device/module_cache.hpp"
#include "device/toolchain.hpp"
#include "device/trace.hpp"
#include "device/workspace_pool.hpp"

namespace parity {

/// One launch, as a public launch function makes it once its arguments are checked.
struct Launch {
  const VariantSpec& variant;
  LaunchShape shape;  ///< a grid of no blocks launches nothing
  std::span<const std::byte> params;
  /// A buffer that the kernel reads and one that it writes: where plants strike.
  const DeviceTensor& input;
  const DeviceTensor& output;
  bool writes_output = true;  ///< false: a later launch does
};

class Runtime {
 public:
  /// `module_folder` is where the disk cache lives.
  Runtime(std::unique_ptr<Backend> backend, std::unique_ptr<Toolchain> toolchain,
          const std::filesystem::path& module_folder, Faults faults = {});

  Backend& backend() { return *backend_; }
  const Toolchain& toolchain() const { return *toolchain_; }
  DiskCache& disk_cache() { return disk_; }
  ModuleCache& modules() { return modules_; }
  WorkspacePool& workspaces() { return workspaces_; }
  Trace& trace() { return trace_; }
  const Faults& faults() const { return faults_; }

  /// Every carrier that can be probed.
  std::vector<Carrier*> carriers() { return {&modules_, &workspaces_}; }

  /// Gets the module (recorded in the trace) and starts the kernel. Throws CompileError or
  /// DeviceError.
  void launch(const Launch& launch);

  /// The factor that the plant `drift` puts on scores, given this launch's value dtype: 1 unless
  /// planted.
  float score_drift(Dtype value_dtype);

 private:
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Toolchain> toolchain_;
  Faults faults_;
  DiskCache disk_;
  ModuleCache modules_;
  WorkspacePool workspaces_;
  Trace trace_;
  bool drifted_ = false;
  const void* awaited_output_ = nullptr;  ///< see PlantedLaunch
};

enum class BackendKind : std::uint8_t { automatic, cuda, host };

/// `automatic` takes CUDA where a device answers, else the host. Throws DeviceError saying what is
/// missing.
std::unique_ptr<Runtime> make_runtime(BackendKind kind, const std::filesystem::path& module_folder,
                                      Faults faults = {});

}  // namespace parity
