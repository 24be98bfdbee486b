// Where files live: ${PARITY_HOME:-${XDG_CACHE_HOME:-~/.cache}/parity}/{modules,packs,runs}, and runs
// in $PARITY_RUNS where that is set.
#pragma once

#include <filesystem>
#include <string>

namespace parity {

struct Paths {
  std::filesystem::path modules;
  std::filesystem::path packs;
  std::filesystem::path runs;
  /// Locked shared by who begins a run and may have seen packs that are there, exclusive by who
  /// removes packs.
  std::filesystem::path packs_lock;
  /// Locked shared by who may compile modules or load some, exclusive by who removes all.
  std::filesystem::path modules_lock;
};

/// Creates the folders. Throws DatasetError naming the one that cannot be made, UsageError where
/// their names are not UTF-8: workers are told them in JSON.
Paths paths();

/// The same names, and nothing is created.
Paths paths_as_they_are();

/// Beside a folder of modules; Paths::modules_lock of that in the home.
std::filesystem::path modules_lock_of(const std::filesystem::path& modules);

/// Digest of this program's own bytes: changes exactly when the build does.
std::string build_id();

/// Absolute path of this program.
std::filesystem::path program_path();

}  // namespace parity
