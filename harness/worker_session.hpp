// What the built-in worker holds between requests: runtime, pack, resident inputs and the arena.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/pack.hpp"
#include "device/arena.hpp"
#include "device/runtime.hpp"
#include "harness/case.hpp"
#include "harness/protocol.hpp"

namespace parity {

class WorkerSession {
 public:
  /// Throws UsageError (unknown plant), DatasetError (pack), DeviceError (no such backend here).
  explicit WorkerSession(const Hello& hello);

  HelloReply introduction();
  /// The case's modules. Throws UsageError for an unknown id or one that the kernel refuses.
  std::vector<ModuleDescription> describe(std::string_view id);
  /// Compiles them to disk. Throws CompileError as well.
  void prepare(std::string_view id);
  /// Throws UsageError for an id that the pack does not hold, or what the launch threw: see
  /// launching().
  Outcome run(const std::string& id, Poison poison);

  /// Carriers by name; throw UsageError naming those there are.
  std::string snapshot(std::string_view carrier);
  void restore(std::string_view carrier);
  void set(std::string_view carrier, std::string_view state);

  /// Whether the last run threw in its launch rather than before or after: a UsageError then means
  /// that the case is not supported.
  bool launching() const { return launching_; }
  /// Cells touched since the last run began.
  std::vector<CellSeen> take_cells();
  /// Throws DeviceError where an earlier error has left the device useless to this process.
  void require_sound_device() { runtime_->backend().synchronize(); }

 private:
  struct Resident {
    Case description;
    TensorList inputs;
    std::vector<PackOutput> outputs;
  };

  const Resident& resident(const std::string& id);
  Carrier& carrier(std::string_view name);

  std::filesystem::path blobs_;
  std::unique_ptr<Runtime> runtime_;
  PackReader pack_;
  Arena arena_;
  std::map<std::string, Resident> residents_;
  std::size_t resident_bytes_ = 0;
  bool launching_ = false;
};

}  // namespace parity
