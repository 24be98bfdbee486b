// The runtime a production engine would hold: owns the backend, the toolchain and every carrier.
// There is no mutable state outside it.
//
// Any number of host threads may launch through one runtime at the same time. Each has a trace of
// its own; a module is compiled and loaded by the first that asks, and the others wait for it; a
// workspace belongs to one thread from its lease to its return. On a GPU all of them share the
// default stream. Snapshot, restore and set of a carrier are for a runtime at rest.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "device/autotune.hpp"
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
  /// `module_folder` is where the disk cache lives, `spare_folder` where it puts what that does not
  /// take (DiskCache).
  Runtime(std::unique_ptr<Backend> backend, std::unique_ptr<Toolchain> toolchain,
          const std::filesystem::path& module_folder, Faults faults = {},
          const std::filesystem::path& spare_folder = {});

  Backend& backend() { return *backend_; }
  const Toolchain& toolchain() const { return *toolchain_; }
  DiskCache& disk_cache() { return disk_; }
  ModuleCache& modules() { return modules_; }
  WorkspacePool& workspaces() { return workspaces_; }
  AutotuneMemo& autotune() { return autotune_; }
  /// The calling thread's.
  Trace& trace() { return this_thread().trace; }
  const Faults& faults() const { return faults_; }

  /// Every carrier that can be probed.
  std::vector<Carrier*> carriers() { return {&modules_, &workspaces_, &autotune_}; }

  /// Gets the module (recorded in the trace) and starts the kernel. Throws CompileError or
  /// DeviceError.
  void launch(const Launch& launch);

  /// The factor that the plant `drift` puts on scores, given this launch's value dtype: 1 unless
  /// planted.
  float score_drift(Dtype value_dtype);

 private:
  struct ThreadState {
    Trace trace;
    const void* awaited_output = nullptr;  ///< see PlantedLaunch
  };
  /// A thread may be given the id, and so the state, of one that has ended; Trace::begin() forgets
  /// what that one left.
  ThreadState& this_thread();

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Toolchain> toolchain_;
  Faults faults_;
  DiskCache disk_;
  ModuleCache modules_;
  WorkspacePool workspaces_;
  AutotuneMemo autotune_;
  std::atomic<bool> drifted_ = false;
  std::mutex threads_mutex_;
  std::map<std::thread::id, ThreadState> threads_;
};

enum class BackendKind : std::uint8_t { automatic, cuda, host };

/// `automatic` takes CUDA where a device answers, else the host. Throws DeviceError saying what is
/// missing.
std::unique_ptr<Runtime> make_runtime(BackendKind kind, const std::filesystem::path& module_folder,
                                      Faults faults = {},
                                      const std::filesystem::path& spare_folder = {});

}  // namespace parity
