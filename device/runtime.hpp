// The runtime a production engine would hold: owns the backend, the toolchain and every carrier.
// There is no mutable state outside it.
//
// Any number of host threads may launch through one runtime at the same time. Each has a trace of
// its own; a module is compiled and loaded by the first that asks, and the others wait for it; a
// workspace belongs to one thread from its lease to its return. On a GPU all of them share the
// default stream. Snapshot, restore and set of a carrier are for a runtime at rest.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "device/autotune.hpp"
#include "device/backend.hpp"
#include "device/carrier.hpp"
#include "device/device_constants.hpp"
#include "device/device_tensor.hpp"
#include "device/disk_cache.hpp"
#include "device/environment.hpp"
#include "device/faults.hpp"
#include "device/floating_point_environment.hpp"
#include "device/graph_cache.hpp"
#include "device/module_cache.hpp"
#include "device/planted_state.hpp"
#include "device/rng_streams.hpp"
#include "device/toolchain.hpp"
#include "device/trace.hpp"
#include "device/working_directory.hpp"
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
  /// What in the parameters tells people which launch it was, without an address.
  std::string (*words)(std::span<const std::byte> params) = nullptr;
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
  GraphCache& graphs() { return graphs_; }
  DeviceConstants& constants() { return constants_; }
  RngStreams& streams() { return streams_; }
  /// The calling thread's.
  Trace& trace() { return this_thread().trace; }
  const Faults& faults() const { return faults_; }

  /// Every carrier that can be probed, the traced ones first. What the ambient ones held when the
  /// runtime was made is what they are restored to.
  std::vector<Carrier*> carriers();

  /// Gets the module (recorded in the trace) and starts the kernel, or records its launch. Throws
  /// CompileError or DeviceError.
  void launch(const Launch& launch);

  /// Calls `launches`, records what it launches on this thread, and then starts all of it as one
  /// graph. So whatever else a launch needs (a module, a workspace, a plan) is made before the
  /// capture, cold or not; but nothing has run when `launches` returns. All that it gives the
  /// kernels to use must live until they have ended. Throws what `launches` and GraphCache::replay
  /// throw, UsageError inside such a call; nothing is started then.
  void replay_as_graph(const std::function<void()>& launches);
  /// Whether this thread's launches are recorded now.
  bool is_recording() { return this_thread().recording.has_value(); }

  /// A block of workspaces(). Recorded launches keep theirs until their graph has been started, so
  /// two of them that share one lie in the same memory: throws UsageError where the later needs
  /// more of it.
  WorkspaceLease lease_workspace(const WorkspaceKey& key, std::size_t bytes);

  /// The factor that planted engine state puts on scores, given this launch's value dtype: 1 unless
  /// planted. Once a launch.
  float score_factor(Dtype value) { return planted_state_.score_factor(value, trace()); }

 private:
  struct Recording {
    RecordedLaunches launches;
    /// Held from the first lease on. Who holds one block waits for another in recordings only, so
    /// with one of these at a time no two threads wait for each other.
    std::unique_lock<std::mutex> only_one;
    std::map<WorkspaceKey, WorkspaceLease> workspaces;
  };
  struct ThreadState {
    Trace trace;
    const void* awaited_output = nullptr;  ///< see PlantedLaunch
    std::optional<Recording> recording;
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
  GraphCache graphs_;
  DeviceConstants constants_;
  RngStreams streams_;
  Environment environment_;
  WorkingDirectory working_directory_;
  FloatingPointEnvironment floating_point_;
  PlantedState planted_state_;
  std::mutex recording_mutex_;
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
