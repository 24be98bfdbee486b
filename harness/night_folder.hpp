// The folder of one night: how it began, what each step said and wrote, and the reports of all. One
// process holds it at a time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/child_process.hpp"
#include "harness/journal.hpp"
#include "harness/night_steps.hpp"
#include "reports/joined_runs.hpp"

namespace parity {

class NightFolder {
 public:
  /// A new one, which must not hold anything yet. Throws UsageError.
  NightFolder(const std::filesystem::path& path, const JournalHead& head);
  /// One that `build` began and nobody holds. Throws UsageError, DatasetError.
  NightFolder(const std::filesystem::path& path, const std::string& build);

  const std::filesystem::path& path() const { return path_; }
  /// How it was begun; its other fields are a run's.
  const JournalHead& head() const { return head_; }

  std::filesystem::path said(const NightStep& step) const { return file(step, ".txt"); }
  std::filesystem::path errors(const NightStep& step) const { return file(step, ".err"); }
  std::filesystem::path json(const NightStep& step) const { return file(step, ".json"); }
  /// PARITY_RUNS of the step.
  std::filesystem::path runs(const NightStep& step) const { return path_ / "runs" / step.file; }
  std::filesystem::path night() const { return path_ / "night.json"; }

  /// Steps that ended, as record() has kept them.
  std::vector<ReportedStep> ended() const;
  /// Throws DatasetError.
  void record(const JoinedRuns& night) const;

 private:
  std::filesystem::path file(const NightStep& step, const char* suffix) const {
    return path_ / (step.file + suffix);
  }
  void lock();

  std::filesystem::path path_;
  JournalHead head_;
  Descriptor lock_;
};

}  // namespace parity
