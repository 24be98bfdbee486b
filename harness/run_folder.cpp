// Taking, finding and removing run folders; the lock's holder alone may change one.
#include "harness/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "datasets/errors.hpp"
#include "harness/file_lock.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = "lock";

/// A folder that was removed between open and lock holds no lock: whoever makes it anew has
/// another file. A file system without locks must not look like one where each name is taken.
Locked take(const fs::path& folder, int flags, Descriptor& lock) {
  const fs::path path = folder / kLock;
  lock = Descriptor(open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (lock.number() < 0) return Locked::failed;
  if (const Locked held = try_lock(lock, Lock::exclusive); held != Locked::by_us) return held;
  struct stat ours = {};
  struct stat there = {};
  const bool same = fstat(lock.number(), &ours) == 0 && stat(path.c_str(), &there) == 0 &&
                    ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
  return same ? Locked::by_us : Locked::by_another;
}

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored)) bytes += entry.file_size(ignored);
  return bytes;
}

std::vector<fs::path> folders_below(const fs::path& runs) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs, ignored))
    if (entry.is_directory(ignored)) folders.push_back(entry.path());
  std::ranges::sort(folders);
  return folders;
}

fs::path last_run(const fs::path& runs) {
  fs::path last;
  fs::file_time_type written;
  for (const fs::path& folder : folders_below(runs)) {
    std::error_code failed;
    const fs::file_time_type time = fs::last_write_time(folder / "journal", failed);
    if (failed || (!last.empty() && time < written)) continue;
    last = folder;
    written = time;
  }
  if (!last.empty()) return last;
  throw UsageError(fmt::format("--resume last: no run under {} keeps a journal", runs.string()));
}

}  // namespace

RunFolder::RunFolder(const fs::path& runs, const std::string& name) {
  for (int attempt = 1;; ++attempt) {
    path_ = runs / (attempt == 1 ? name : fmt::format("{}-{}", name, attempt));
    std::error_code error;
    fs::create_directories(path_, error);
    const Locked held = error ? Locked::failed : take(path_, O_RDWR | O_CREAT, lock_);
    if (held == Locked::by_another) continue;
    if (!error && held == Locked::failed) error = {errno, std::generic_category()};
    if (error) cannot_be_made(error);
    furnish();
    return;
  }
}

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {
  const Locked held = take(path_, O_RDWR | O_CREAT, lock_);
  if (held == Locked::by_another)
    throw UsageError(
        fmt::format("--resume {}: another process runs it", path_.filename().string()));
  if (const int why = errno; held == Locked::failed)
    throw UsageError(
        fmt::format("--resume {}: its lock {} cannot be had: {}; {}", path_.filename().string(),
                    (path_ / kLock).string(), std::strerror(why),
                    why == EISDIR ? "remove the folder of that name" : "make it writable"));
  furnish();
}

void RunFolder::cannot_be_made(const std::error_code& why) const {
  throw DatasetError(fmt::format(
      "run folder {} cannot be made: {}; {}", path_.string(), why.message(),
      why == std::errc::is_a_directory
          ? fmt::format("remove the folder {}, which has its lock's name", (path_ / kLock).string())
          : "set PARITY_HOME to a writable folder"));
}

void RunFolder::furnish() const {
  std::error_code error;
  fs::remove_all(spare_modules(), error);  // What a killed run left.
  if (fs::create_directories(blobs(), error); error) cannot_be_made(error);
}

void RunFolder::clear() const {
  std::error_code ignored;
  // First, so that a journal never stands there without its outputs.
  fs::remove(journal(), ignored);
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, ignored))
    if (entry.path().filename() != kLock) fs::remove_all(entry.path(), ignored);
  furnish();
}

RunFolder::~RunFolder() {
  std::error_code error;
  fs::remove_all(spare_modules(), error);
}

fs::path find_run(const fs::path& runs, const std::string& run) {
  if (run == "last") return last_run(runs);
  fs::path path = run.find('/') == std::string::npos ? runs / run : fs::absolute(run);
  path = path.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::error_code ignored;
  if (fs::is_regular_file(path / "journal", ignored)) return path;
  throw UsageError(
      fmt::format("--resume {}: no run with a journal at {}; harness cache info lists "
                  "those that can be resumed",
                  run, path.string()));
}

std::vector<FoundRun> found_runs(const fs::path& runs) {
  std::vector<FoundRun> found;
  for (const fs::path& folder : folders_below(runs)) {
    FoundRun& run = found.emplace_back();
    run.path = folder;
    run.live = locked_by_another(Descriptor(open((folder / kLock).c_str(), O_RDONLY | O_CLOEXEC)));
    run.journal = read_journal_state(folder / "journal");
    run.bytes = bytes_below(folder);
  }
  return found;
}

bool remove_run(const fs::path& path, const std::string& build) {
  Descriptor lock;
  if (take(path, O_RDWR | O_CREAT, lock) != Locked::by_us) return false;
  // It may have run, and been cut off, since it was found.
  if (FoundRun{path, false, read_journal_state(path / "journal")}.resumable(build)) return false;
  std::error_code failed;
  fs::remove_all(path, failed);
  return !failed;
}

void go_where_it_began(const JournalHead& head, const std::string& resumed) {
  std::error_code failed;
  std::filesystem::current_path(head.folder, failed);
  if (failed)
    throw UsageError(
        fmt::format("--resume {}: began in {}: {}", resumed, head.folder, failed.message()));
}

}  // namespace parity
