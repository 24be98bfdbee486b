// One run of one case in the thread that asks for it: arena, launch, inspection, output bytes.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <vector>

#include "datasets/pack.hpp"
#include "device/arena.hpp"
#include "device/runtime.hpp"
#include "harness/case.hpp"
#include "harness/outcome.hpp"

namespace parity {

/// What a run needs of the pack; nothing in it changes.
struct ResidentCase {
  Case description;
  TensorList inputs;
  std::vector<PackOutput> outputs;
};

/// Holds the arena between runs, so it serves one thread at a time; any number may share the
/// runtime.
class WorkerRun {
 public:
  /// Both must outlive it. `blobs`: folder for output bytes.
  WorkerRun(Runtime& runtime, const std::filesystem::path& blobs)
      : runtime_(runtime), blobs_(blobs), arena_(runtime.backend()) {}

  /// Throws nothing of std::exception: what the run threw is an outcome (`unsupported` for a
  /// UsageError of the launch, else `error`), its whole words on stderr. `ready` is called once,
  /// between the laying out of the buffers and the launch.
  Outcome run(const ResidentCase& known, Poison poison, const std::function<void()>& ready);

 private:
  Outcome attempt(const ResidentCase& known, Poison poison, const std::function<void()>& ready);
  Outcome failure(const std::exception& error, bool usage);

  Runtime& runtime_;
  const std::filesystem::path& blobs_;
  Arena arena_;
  bool launching_ = false;
};

}  // namespace parity
