// harness cache: what the folders of modules, packs and runs hold, whether modules are sound, and
// removing what nobody needs.
#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "device/cache_folder.hpp"
#include "harness/commands.hpp"
#include "harness/file_lock.hpp"
#include "harness/paths.hpp"
#include "harness/run_folder.hpp"
#include "harness/shown_text.hpp"

namespace parity {
namespace {

constexpr int kDamaged = 1;

std::string shown(const std::filesystem::path& path) {
  return parity::shown(path.string());
}

void print_foreign(const CacheFolder& found) {
  for (const std::filesystem::path& path : found.foreign)
    fmt::print("foreign    {}\n", shown(path));
}

/// "<digest>" of "<digest>.golden.h5", "<digest>.inputs.h5" and what a killed run left of them.
std::string pack_stem(const std::filesystem::path& pack) {
  const std::string name = pack.filename().string();
  return name.substr(0, name.find('.'));
}

/// Run folders, and packs with who needs them.
struct Store {
  std::vector<FoundRun> runs;
  std::vector<std::filesystem::path> needed;  ///< packs
  std::vector<std::filesystem::path> packs;   ///< the others
};

/// A pack is needed by runs that go on or could. A run that has not yet begun its journal may need
/// any.
Store read_store(const Paths& folders, bool may_need_any = false) {
  Store store;
  store.runs = found_runs(folders.runs);
  const std::string build = build_id();
  std::set<std::string> needed;
  for (const FoundRun& run : store.runs) {
    may_need_any = may_need_any || (run.live && !run.journal);
    if (run.journal && (run.live || run.resumable(build)))
      needed.insert(pack_stem(run.journal->head.pack));
  }
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folders.packs, ignored))
    (may_need_any || needed.contains(pack_stem(entry.path())) ? store.needed : store.packs)
        .push_back(entry.path());
  return store;
}

std::uint64_t bytes_of(const std::vector<std::filesystem::path>& files) {
  std::uint64_t bytes = 0;
  std::error_code failed;
  for (const std::filesystem::path& file : files)
    if (const auto size = std::filesystem::file_size(file, failed); !failed) bytes += size;
  return bytes;
}

void print_store(const Paths& folders) {
  const Store store = read_store(folders);
  const std::string build = build_id();
  std::uint64_t bytes = 0;
  for (const FoundRun& run : store.runs) bytes += run.bytes;
  fmt::print("packs      {} files of {} bytes\nruns       {} of {} bytes\n",
             store.needed.size() + store.packs.size(),
             bytes_of(store.needed) + bytes_of(store.packs), store.runs.size(), bytes);
  for (const FoundRun& run : store.runs) {
    if (run.live)
      fmt::print("running    {}\n", shown(run.path.filename()));
    else if (run.resumable(build))
      fmt::print("resumable  {}\n", shown(run.path.filename()));
  }
}

void clear_store(const Paths& folders) {
  // Who begins a run from here on waits, and looks for its packs when these are gone. Where one is
  // beginning, or that cannot be known, all packs stay.
  const Descriptor lock(open(folders.packs_lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  const bool alone = try_lock(lock, Lock::exclusive) == Locked::by_us;
  const Store store = read_store(folders, !alone);
  const std::string build = build_id();
  std::size_t runs = 0;
  std::uint64_t run_bytes = 0;
  for (const FoundRun& run : store.runs) {
    if (run.live || run.resumable(build) || !remove_run(run.path, build)) continue;
    ++runs;
    run_bytes += run.bytes;
  }
  const std::uint64_t pack_bytes = bytes_of(store.packs);
  std::error_code ignored;
  for (const std::filesystem::path& pack : store.packs) std::filesystem::remove(pack, ignored);
  fmt::print(
      "removed {} runs of {} bytes and {} packs of {} bytes; {} runs that go on or can be resumed, "
      "and their {} packs, stay\n",
      runs, run_bytes, store.packs.size(), pack_bytes, store.runs.size() - runs,
      store.needed.size());
}

int info(const std::filesystem::path& folder) {
  const CacheFolder found = read_cache_folder(folder);
  fmt::print("folder     {}\nentries    {}\nbytes      {}\nlimit      {} (PARITY_CACHE_BYTES)\n",
             shown(folder), found.entries.size(), found.bytes(), cache_limit());
  print_foreign(found);
  return 0;
}

int verify(const std::filesystem::path& folder) {
  const CacheFolder found = read_cache_folder(folder);
  std::size_t images = 0;
  std::size_t damaged = 0;
  for (const CacheEntry& entry : found.entries)
    for (const std::filesystem::path& file : entry.files) {
      if (!is_image(file)) continue;
      ++images;
      if (image_state(file) != ImageState::damaged) continue;
      ++damaged;
      fmt::print("damaged    {}\n", shown(file));
    }
  print_foreign(found);
  fmt::print("{} images, {} damaged, {} foreign\n", images, damaged, found.foreign.size());
  if (damaged > 0)
    fmt::print(
        "a damaged image is never used: it is built again when it is needed, or removed by "
        "harness cache clear\n");
  return damaged > 0 ? kDamaged : 0;
}

/// Why the modules stay as they are; empty: nobody else uses them for as long as `lock` lives. A
/// source that goes before its compiler reads it would be taken for a fault of its case.
std::string in_use(const std::filesystem::path& path, Descriptor& lock) {
  lock = Descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  const Locked held = lock.number() < 0 ? Locked::failed : try_lock(lock, Lock::exclusive);
  if (held == Locked::by_us) return {};
  if (held == Locked::by_another) return "a run uses them; clear again when it has ended";
  return fmt::format(
      "whether a run uses them is not known, as {} cannot be locked ({}); remove the folder when "
      "none does",
      shown(path), std::strerror(errno));
}

void clear_modules(const Paths& folders) {
  const CacheFolder found = read_cache_folder(folders.modules);
  Descriptor lock;
  const std::string why = found.entries.empty() ? "" : in_use(folders.modules_lock, lock);
  if (!why.empty()) {
    fmt::print("removed 0 entries from {}; its {} entries of {} bytes stay: {}\n",
               shown(folders.modules), found.entries.size(), found.bytes(), why);
    return;
  }
  std::size_t entries = 0;
  std::uint64_t bytes = 0;
  for (const CacheEntry& entry : found.entries) {
    const Removed removed = remove_entry(entry);
    if (removed.files > 0) ++entries;
    bytes += removed.bytes;
  }
  fmt::print("removed {} entries of {} bytes from {}; {} foreign files left\n", entries, bytes,
             shown(folders.modules), found.foreign.size());
}

/// Only a run makes what is missing: who looks at a home may not be able to write there.
Paths looked_at() {
  Paths folders = paths_as_they_are();
  const std::filesystem::path home = folders.modules.parent_path();
  std::error_code ignored;
  if (!std::filesystem::exists(home, ignored) || std::filesystem::is_directory(home, ignored))
    return folders;
  throw DatasetError(fmt::format(
      "{} is no folder; set PARITY_HOME to the folder of modules, packs and runs", home.string()));
}

}  // namespace

int cache_command(const Options& options) {
  const Paths folders = looked_at();
  int code = 0;
  switch (options.cache) {
    case CacheAction::info:
      code = info(folders.modules);
      print_store(folders);
      break;
    case CacheAction::verify:
      code = verify(folders.modules);
      break;
    case CacheAction::clear:
      clear_modules(folders);
      clear_store(folders);
      break;
  }
  return code;
}

}  // namespace parity
