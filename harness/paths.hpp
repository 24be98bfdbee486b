// Where files live: ${PARITY_HOME:-${XDG_CACHE_HOME:-~/.cache}/parity}/{modules,packs,runs}.
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
};

/// Creates the folders. Throws DatasetError naming the one that cannot be made.
Paths paths();

/// Digest of this program's own bytes: changes exactly when the build does.
std::string build_id();

/// Absolute path of this program.
std::filesystem::path program_path();

}  // namespace parity
