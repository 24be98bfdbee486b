// What the built-in worker holds between requests: runtime, pack, resident inputs and
// arenas.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/pack.hpp"
#include "device/runtime.hpp"
#include "harness/child_process.hpp"
#include "harness/protocol.hpp"
#include "harness/worker_run.hpp"
#include "harness/worker_watch.hpp"

namespace parity {

class WorkerSession {
 public:
  /// Throws UsageError (unknown plant), DatasetError (pack), DeviceError (no such backend here).
  explicit WorkerSession(const Hello& hello);

  HelloReply introduction();
  /// The case's modules. Throws UsageError for an unknown id or one that the kernel refuses.
  std::vector<ModuleDescription> describe(std::string_view id);
  /// Compiles them to disk; what the person should know of that disk and of the file of plans.
  /// Throws CompileError as well.
  std::vector<std::string> prepare(std::string_view id);
  /// Throws UsageError for an id that the pack does not hold, and DeviceError where the run has
  /// left the device useless to this process; all else that goes wrong is the outcome.
  Outcome run(const RunRequest& request);
  /// Each from a host thread of its own; they launch at the same time, when the last of them has
  /// laid out its buffers. Outcomes stand in the order of the requests. Throws as run().
  std::vector<Outcome> together(std::span<const RunRequest> requests);

  /// Carriers by name; throw UsageError naming those there are.
  std::string snapshot(std::string_view carrier);
  void restore(std::string_view carrier);
  void set(std::string_view carrier, std::string_view state);

  /// Writes the plans that this worker has tuned to the file that hello named. Throws DatasetError.
  void keep_tuned();

  /// Throws DeviceError where an earlier error has left the device useless to this process.
  void require_sound_device() { runtime_->backend().synchronize(); }

 private:
  /// Lives on when it is dropped from the residents.
  std::shared_ptr<const ResidentCase> resident(const std::string& id);
  /// By host thread; 0: that of the requests.
  WorkerRun& runner(std::size_t thread);
  Carrier& carrier(std::string_view name);

  std::filesystem::path blobs_;
  PackReader pack_;  ///< opened first: what its library does to the process is no run's doing
  Descriptor modules_held_;  ///< also where no parent holds them: a person in a debugger
  std::unique_ptr<Runtime> runtime_;
  WorkerWatch watch_;
  std::filesystem::path autotune_file_;  ///< empty: plans are not kept
  std::vector<std::string> warnings_;    ///< for the next reply that takes some
  std::vector<std::unique_ptr<WorkerRun>> runners_;
  std::map<std::string, std::shared_ptr<const ResidentCase>> residents_;
  std::size_t resident_bytes_ = 0;
};

}  // namespace parity
