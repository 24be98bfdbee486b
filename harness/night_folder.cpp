#include "harness/night_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "datasets/errors.hpp"
#include "harness/file_lock.hpp"
#include "harness/journal_lines.hpp"
#include "harness/shell_words.hpp"
#include "harness/shown_text.hpp"
#include "reports/report.hpp"
#include "reports/report_reader.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBegun = "begun";

fs::path absolute_folder(const fs::path& path) {
  const fs::path folder = fs::absolute(path).lexically_normal();
  return folder.has_filename() ? folder : folder.parent_path();
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
  if (fs::exists(path_ / kBegun, failed))
    throw UsageError(fmt::format(
        "--out {0}: holds a night already; go on with it (harness nightly --resume {0}) or name a "
        "new folder",
        path_.string()));
  if (!fs::is_empty(path_, failed) || failed)
    throw UsageError(fmt::format("--out {}: {}; name a new folder", path_.string(),
                                 failed ? failed.message() : "is not empty"));
  lock();
  write_report(journal_line(head_), path_ / kBegun);
}

NightFolder::NightFolder(const fs::path& path, const std::string& build)
    : path_(absolute_folder(path)) {
  if (std::error_code ignored; !fs::is_regular_file(path_ / kBegun, ignored))
    throw UsageError(
        fmt::format("--resume {}: no night began there; begin one: harness nightly --out {}",
                    path.string(), path.string()));
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

void NightFolder::lock() {
  lock_ = Descriptor(open((path_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  const Locked held = lock_.number() < 0 ? Locked::failed : try_lock(lock_, Lock::exclusive);
  if (held == Locked::by_us) return;
  throw UsageError(fmt::format("{}: {}", path_.string(),
                               held == Locked::by_another
                                   ? "another process runs this night; wait for it"
                                   : fmt::format("cannot be locked: {}; name a folder that can be "
                                                 "written",
                                                 std::strerror(errno))));
}

std::vector<ReportedStep> NightFolder::ended() const {
  if (std::error_code ignored; !fs::exists(night(), ignored)) return {};
  JoinedRuns before;
  read_into(before, night());
  // What was cut off or could not run is to run again.
  std::erase_if(before.steps, [](const ReportedStep& step) {
    const int code = step.exit_code;
    return code != 0 && code != 1 && code != 3 && code != 4;
  });
  return before.steps;
}

void NightFolder::record(const JoinedRuns& all) const {
  write_report(night_json(all), night());
}

}  // namespace parity
