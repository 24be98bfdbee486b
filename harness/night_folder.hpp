// The folder of one night: how it began, what each step said and wrote, and the reports of all. One
// process holds it at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/child_process.hpp"
#include "harness/journal.hpp"
#include "harness/night_steps.hpp"
#include "reports/joined_runs.hpp"

namespace parity {

class NightFolder {
 public:
  /// A new one, which must not hold anything yet but what a beginning that was cut off left. Throws
  /// UsageError.
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

  /// Its next --resume finds these arguments. Throws DatasetError.
  void keep_arguments(std::vector<std::string> arguments);

  /// What the JSON of the step tells; nothing where there is none that reads whole.
  std::optional<JoinedRuns> told(const NightStep& step) const;
  /// Whether a step that ended with this code told all of it: nothing is left to go on with.
  bool told_all(const NightStep& step, int exit_code) const;
  /// Those of `steps` that record() has kept and that ended with a verdict, and told it. A damaged
  /// record keeps none.
  std::vector<ReportedStep> ended(const std::vector<NightStep>& steps) const;
  /// The run of a step that was cut off; nothing where there is none.
  std::optional<std::filesystem::path> begun(const NightStep& step) const;
  /// Throws DatasetError.
  void record(const JoinedRuns& night) const;

 private:
  std::filesystem::path file(const NightStep& step, const char* suffix) const {
    return path_ / (step.file + suffix);
  }
  /// Throws UsageError.
  void refuse_unless_empty() const;
  void lock();

  std::filesystem::path path_;
  JournalHead head_;
  Descriptor lock_;
};

}  // namespace parity
