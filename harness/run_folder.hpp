// The folder of one run: journal, outputs, worker logs. One process holds it at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "harness/child_process.hpp"
#include "harness/journal.hpp"

namespace parity {

class RunFolder {
 public:
  /// For a new run: the first of NAME, NAME-2, ... below `runs` that no other process holds. What
  /// an earlier run left there stays until clear(). Throws DatasetError when it cannot be made.
  RunFolder(const std::filesystem::path& runs, const std::string& name);
  /// One that is there. Throws UsageError when another process holds it.
  explicit RunFolder(std::filesystem::path path);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// Removes what an earlier run left: its journal may be all that is left of hours, so only once
  /// nothing can keep the new one from beginning. Throws as the constructor.
  void clear() const;

  const std::filesystem::path& path() const { return path_; }
  /// Output bytes, one file a digest.
  std::filesystem::path blobs() const { return path_ / "blobs"; }
  /// Where workers put modules that the disk cache's folder does not take. Goes with this.
  std::filesystem::path spare_modules() const { return path_ / "modules"; }
  std::filesystem::path journal() const { return path_ / "journal"; }

 private:
  [[noreturn]] void cannot_be_made(const std::error_code& why) const;
  void furnish() const;  ///< a folder for blobs, none for spare modules

  std::filesystem::path path_;
  Descriptor lock_;
};

/// The folder of a run that keeps a journal. `run`: its name below `runs`, a path (with a '/'), or
/// `last`, the one whose journal was written last. Throws UsageError.
std::filesystem::path find_run(const std::filesystem::path& runs, const std::string& run);

/// Changes the working directory to that in which it was begun: paths in its options start there.
/// `resumed`: the word behind --resume. Throws UsageError.
void go_where_it_began(const JournalHead& head, const std::string& resumed);

/// A folder below runs/ as it is found.
struct FoundRun {
  std::filesystem::path path;
  bool live = false;  ///< a process holds it
  std::optional<JournalState> journal;
  std::uint64_t bytes = 0;

  /// By this build.
  bool resumable(const std::string& build) const {
    return journal && !journal->ended && journal->head.build == build;
  }
};

/// In the order of their names. Holds none of them, not even for a moment.
std::vector<FoundRun> found_runs(const std::filesystem::path& runs);

/// Removes the folder unless a process holds it or `build` can go on with it; false where it stays,
/// or something of it.
bool remove_run(const std::filesystem::path& path, const std::string& build);

}  // namespace parity
