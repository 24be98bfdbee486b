// Where files live, and which program this is.
#include "harness/paths.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"
#include "harness/shown_text.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

/// Empty where the variable is unset or empty.
fs::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? fs::path() : fs::path(value);
}

fs::path chosen_home() {
  if (const fs::path own = variable("PARITY_HOME"); !own.empty()) return fs::absolute(own);
  if (const fs::path cache = variable("XDG_CACHE_HOME"); !cache.empty()) {
    return fs::absolute(cache) / "parity";
  }
  if (const fs::path user = variable("HOME"); !user.empty()) {
    return fs::absolute(user) / ".cache" / "parity";
  }
  throw DatasetError(
      "no folder for modules, packs and runs: PARITY_HOME, XDG_CACHE_HOME and HOME are all unset; "
      "set "
      "PARITY_HOME to a folder that can be written");
}

fs::path utf8(const fs::path& chosen, const char* of, const char* variable_name) {
  if (is_utf8(chosen.string())) return chosen;
  throw UsageError(
      fmt::format("the folder {} for {} has a name that is not UTF-8; set {} to one that is",
                  shown(chosen.string()), of, variable_name));
}

fs::path runs_below(const fs::path& root) {
  const fs::path own = variable("PARITY_RUNS");
  return own.empty() ? root / "runs" : utf8(fs::absolute(own), "runs", "PARITY_RUNS");
}

void make(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (!failed && fs::is_directory(folder, failed)) return;
  throw DatasetError(
      fmt::format("cannot make the folder {}: {}; set PARITY_HOME to a folder that can be written",
                  folder.string(), failed ? failed.message() : "something else has that name"));
}

}  // namespace

Paths paths() {
  Paths all = paths_as_they_are();
  for (const fs::path& folder : {all.modules, all.packs, all.runs}) make(folder);
  return all;
}

Paths paths_as_they_are() {
  const fs::path root = utf8(chosen_home(), "modules, packs and runs", "PARITY_HOME");
  return {.modules = root / "modules",
          .packs = root / "packs",
          .runs = runs_below(root),
          .packs_lock = root / "packs.lock",
          .modules_lock = modules_lock_of(root / "modules")};
}

fs::path modules_lock_of(const fs::path& modules) {
  const fs::path folder = modules.has_filename() ? modules : modules.parent_path();
  return folder.parent_path() / (folder.filename().string() + ".lock");
}

std::string build_id() {
  std::ifstream in("/proc/self/exe", std::ios::binary | std::ios::ate);
  std::vector<char> bytes(in ? static_cast<std::size_t>(in.tellg()) : 0);
  in.seekg(0);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    throw DatasetError("cannot read this program's own file through /proc/self/exe; mount /proc");
  }
  return digest(std::as_bytes(std::span(bytes))).hex();
}

std::filesystem::path program_path() {
  std::error_code failed;
  const fs::path path = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) return path;
  throw DatasetError("cannot find this program's own file through /proc/self/exe; mount /proc");
}

}  // namespace parity
