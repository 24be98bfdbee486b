// Taking, finding and removing run folders; the lock's holder alone may change one.
#include "harness/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "datasets/errors.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = "lock";

enum class Held { by_us, by_another, failed };

/// A folder that was removed between open and flock holds no lock: whoever makes it anew has
/// another file.
Held take(const fs::path& folder, int flags, Descriptor& lock) {
  const fs::path path = folder / kLock;
  lock = Descriptor(open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (lock.number() < 0) return Held::failed;
  // A file system without locks must not look like one where each name is taken.
  if (flock(lock.number(), LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK ? Held::by_another : Held::failed;
  struct stat ours = {};
  struct stat there = {};
  const bool same = fstat(lock.number(), &ours) == 0 && stat(path.c_str(), &there) == 0 &&
                    ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
  return same ? Held::by_us : Held::by_another;
}

void empty(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename() != kLock) fs::remove_all(entry.path(), ignored);
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
    const Held held = error ? Held::failed : take(path_, O_RDWR | O_CREAT, lock_);
    if (held == Held::by_another) continue;
    const int why = errno;
    if (held == Held::by_us) {
      empty(path_);
      if (fs::create_directories(blobs(), error); !error) return;
    }
    throw DatasetError(
        fmt::format("run folder {} cannot be made: {}; set PARITY_HOME to a writable folder",
                    path_.string(), error ? error.message() : std::strerror(why)));
  }
}

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {
  const Held held = take(path_, O_RDWR, lock_);
  if (held == Held::by_another)
    throw UsageError(
        fmt::format("--resume {}: another process runs it", path_.filename().string()));
  if (held == Held::failed)
    throw UsageError(
        fmt::format("--resume {}: {}", path_.filename().string(), std::strerror(errno)));
  std::error_code ignored;  // What a killed run left.
  fs::remove_all(spare_modules(), ignored);
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
    Descriptor lock;
    run.live = take(folder, O_RDWR, lock) == Held::by_another;
    lock.reset();
    run.journal = read_journal_state(folder / "journal");
    run.bytes = bytes_below(folder);
  }
  return found;
}

bool remove_run(const fs::path& path) {
  Descriptor lock;
  if (take(path, O_RDWR | O_CREAT, lock) != Held::by_us) return false;
  std::error_code failed;
  fs::remove_all(path, failed);
  return !failed;
}

}  // namespace parity
