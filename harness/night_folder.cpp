#include "harness/night_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "datasets/errors.hpp"
#include "harness/file_lock.hpp"
#include "harness/journal_lines.hpp"
#include "harness/run_folder.hpp"
#include "harness/shell_words.hpp"
#include "harness/shown_text.hpp"
#include "reports/report.hpp"
#include "reports/report_reader.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBegun = "begun";
constexpr const char* kLock = "lock";

fs::path absolute_folder(const fs::path& path) {
  const fs::path folder = fs::absolute(path).lexically_normal();
  return folder.has_filename() ? folder : folder.parent_path();
}

/// False for a file that is missing, damaged or of another schema: what it told is to be had anew.
bool reads(JoinedRuns& joined, const fs::path& file) {
  try {
    read_into(joined, file);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

NightFolder::NightFolder(const fs::path& path, const JournalHead& head)
    : path_(absolute_folder(path)), head_(head) {
  if (!is_utf8(path_.string()))
    throw UsageError(
        fmt::format("--out {}: its name is not UTF-8, and reports tell it; name another",
                    shown(path_.string())));
  std::error_code failed;
  fs::create_directories(path_, failed);
  if (failed)
    throw UsageError(fmt::format("--out {}: cannot be made: {}", path_.string(), failed.message()));
  refuse_unless_empty();  // Before a lock is left in a folder of others,
  lock();
  refuse_unless_empty();  // and after, for another may have been quicker.
  write_report(journal_line(head_), path_ / kBegun);
}

NightFolder::NightFolder(const fs::path& path, const std::string& build)
    : path_(absolute_folder(path)) {
  if (std::error_code ignored; !fs::is_regular_file(path_ / kBegun, ignored))
    throw UsageError(fmt::format(
        "--resume {}: no night began there; begin one: harness nightly --out DIR", path.string()));
  lock();
  const std::optional<JournalState> state = read_journal_state(path_ / kBegun);
  if (!state)
    throw UsageError(fmt::format("--resume {}: its file {} is damaged; begin a night elsewhere",
                                 path.string(), kBegun));
  head_ = state->head;
  if (head_.build != build)
    throw UsageError(
        fmt::format("--resume {}: another build of harness began it; begin a night elsewhere, as "
                    "it was: {}",
                    path.string(), shell_quoted(head_.arguments)));
}

void NightFolder::refuse_unless_empty() const {
  if (std::error_code ignored; fs::exists(path_ / kBegun, ignored))
    throw UsageError(fmt::format(
        "--out {0}: holds a night already; go on with it (harness nightly --resume {0}) or name a "
        "new folder",
        path_.string()));
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, failed)) {
    // All that there is when one is killed before it has begun.
    const std::string name = entry.path().filename().string();
    if (name != kLock && !name.starts_with(fmt::format("{}.tmp.", kBegun)))
      throw UsageError(fmt::format("--out {}: is not empty; name a new folder", path_.string()));
  }
  if (failed)
    throw UsageError(
        fmt::format("--out {}: {}; name a new folder", path_.string(), failed.message()));
}

void NightFolder::lock() {
  lock_ = Descriptor(open((path_ / kLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  const Locked held = lock_.number() < 0 ? Locked::failed : try_lock(lock_, Lock::exclusive);
  if (held == Locked::by_us) return;
  throw UsageError(fmt::format("{}: {}", path_.string(),
                               held == Locked::by_another
                                   ? "another process runs this night; wait for it"
                                   : fmt::format("cannot be locked: {}; name a folder that can be "
                                                 "written",
                                                 std::strerror(errno))));
}

void NightFolder::keep_arguments(std::vector<std::string> arguments) {
  if (arguments == head_.arguments) return;
  head_.arguments = std::move(arguments);
  write_report(journal_line(head_), path_ / kBegun);
}

std::optional<JoinedRuns> NightFolder::told(const NightStep& step) const {
  JoinedRuns told;
  if (!reads(told, json(step))) return std::nullopt;
  const std::size_t reports = step.suite ? told.runs.size() : told.selftests.size();
  return reports == 1 ? std::optional(std::move(told)) : std::nullopt;
}

bool NightFolder::told_all(const NightStep& step, int exit_code) const {
  if (!step.writes_json) return has_verdict(exit_code);
  const std::optional<JoinedRuns> told = this->told(step);
  if (!told) return false;
  if (!step.suite) return parity::exit_code(told->selftests.front().report) == exit_code;
  const RunReport& run = told->runs.front().report;
  return run.exit_code == exit_code && run.resume.empty();
}

std::vector<ReportedStep> NightFolder::ended(const std::vector<NightStep>& steps) const {
  JoinedRuns before;
  if (!reads(before, night())) return {};
  std::erase_if(before.steps, [&](const ReportedStep& reported) {
    const auto step = std::ranges::find(steps, reported.name, &NightStep::name);
    return step == steps.end() || !has_verdict(reported.exit_code) ||
           !told_all(*step, reported.exit_code);
  });
  return before.steps;
}

std::optional<fs::path> NightFolder::begun(const NightStep& step) const {
  if (!step.suite) return std::nullopt;
  for (const FoundRun& found : found_runs(runs(step)))
    if (found.journal && found.journal->head.build == head_.build) return found.path;
  return std::nullopt;
}

void NightFolder::record(const JoinedRuns& all) const {
  write_report(night_json(all), night());
}

}  // namespace parity
