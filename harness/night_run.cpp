// The steps of a night in their order, and what is printed and reported of them.
#include "harness/night_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/interrupt.hpp"
#include "harness/night_process.hpp"
#include "harness/night_steps.hpp"
#include "harness/paths.hpp"
#include "harness/report_options.hpp"
#include "harness/shell_words.hpp"
#include "harness/shown_text.hpp"
#include "reports/finding_sentence.hpp"
#include "reports/report.hpp"
#include "reports/report_reader.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kInfrastructure = 5;

/// How steps are called: as was typed, where that is this program still. Another may lie there by
/// now, as after a build, and what it finds would not be this one's.
std::string program_of(const Options& options) {
  const std::string& typed = options.arguments.at(0);
  const fs::path own = program_path();
  std::error_code failed;
  const bool same = typed.find('/') != std::string::npos && fs::equivalent(typed, own, failed);
  return same ? options.program : shell_quoted(own.string());
}

class Night {
 public:
  Night(const Options& options, NightFolder folder)
      : options_(options),
        folder_(std::move(folder)),
        program_(program_of(options)),
        steps_(night_steps(options)) {
    if (options_.budget) stop_at_ = Clock::now() + *options_.budget;
  }

  int run() {
    joined_.commit = options_.commit;
    const std::vector<ReportedStep> before = folder_.ended(steps_);
    const auto ended = [&](const NightStep& step) {
      return std::ranges::find(before, step.name, &ReportedStep::name);
    };
    // All of them from the first moment: a night that is killed shows what did not run, and loses
    // nothing that ended.
    for (const NightStep& step : steps_)
      joined_.steps.push_back(ended(step) != before.end()
                                  ? *ended(step)
                                  : unfinished(step, "not run: the night was cut off"));
    read_times();
    folder_.record(joined_);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      fmt::print("== {} of {}, {}: {}\n", i + 1, steps_.size(), steps_[i].name,
                 command_of(steps_[i]));
      std::fflush(stdout);
      ReportedStep& step = joined_.steps[i];
      if (ended(steps_[i]) == before.end()) step = run(steps_[i]);
      folder_.record(joined_);
      fmt::print("   exit {}: {}\n", step.exit_code, step.said);
    }
    for (const NightStep& step : steps_) add_told(step);
    return report();
  }

 private:
  std::string command_of(const NightStep& step) const {
    return fmt::format("{} {}", program_, shell_quoted(step.words));
  }

  ReportedStep unfinished(const NightStep& step, std::string said) const {
    return {step.name, command_of(step), kInfrastructure, std::move(said)};
  }

  std::string why_stopped() const {
    if (interrupt_.requested()) return "stopped";
    return Clock::now() >= stop_at_ ? "the budget is spent" : "";
  }

  /// A file without times costs the page its times, and no step.
  void read_times() {
    JoinedRuns read;
    for (const fs::path& file : options_.nightly.bench) {
      const std::string why = why_without_times(file, read);
      if (why.empty()) continue;
      const std::string command =
          fmt::format("{} report {}", program_, shell_quoted(file.string()));
      fmt::print("== bench: {}\n   exit {}: {}\n", command, kInfrastructure, why);
      joined_.steps.push_back({"bench", command, kInfrastructure, why});
    }
    joined_.times = std::move(read.times);
  }

  /// Empty: it had some, which are now in `read`.
  static std::string why_without_times(const fs::path& file, JoinedRuns& read) {
    const std::size_t before = read.times.size();
    try {
      read_into(read, file);
    } catch (const Error& error) {
      return shown_line(error.what());
    }
    return read.times.size() == before ? "holds no times; name what parity_bench wrote" : "";
  }

  /// What runs: the step, or what was cut off of it.
  std::string line_of(const NightStep& step) const {
    std::vector<std::string> words = step.words;
    const std::optional<fs::path> cut = folder_.begun(step);
    if (cut) words = {"--resume", cut->string()};
    if (cut && options_.jobs > 0)
      words.insert(words.end(), {"--jobs", fmt::to_string(options_.jobs)});
    if (step.writes_json) words.insert(words.end(), {"--json", folder_.json(step).string()});
    const std::string line = fmt::format("{} {}", program_, shell_quoted(words));
    if (cut) fmt::print("   goes on: {}\n", line);
    std::fflush(stdout);
    return line;
  }

  ReportedStep run(const NightStep& step) {
    if (const std::string why = why_stopped(); !why.empty())
      return unfinished(step, "not run: " + why);
    std::error_code ignored;
    fs::remove(folder_.json(step), ignored);
    const StepEnd end = run_step(folder_, step, line_of(step), [this] { return why_stopped(); });
    const bool whole = folder_.told_all(step, end.exit_code);
    if (whole) fs::remove_all(folder_.runs(step), ignored);
    if (whole && has_verdict(end.exit_code))
      return {step.name, command_of(step), end.exit_code, end.said};
    const std::string why = !end.stopped.empty()               ? end.stopped
                            : end.exit_code == kInfrastructure ? ""
                            : !has_verdict(end.exit_code)      ? end.how
                                                               : end.how + ", and not all is told";
    return unfinished(
        step, fmt::format("{}{}{}", why, why.empty() || end.said.empty() ? "" : "; ", end.said));
  }

  void add_told(const NightStep& step) {
    std::optional<JoinedRuns> told = folder_.told(step);
    if (!told) return;
    const std::string source =
        folder_.json(step).filename().string();  // The reports lie beside it.
    for (ReportedRun& run : told->runs) joined_.runs.push_back({source, std::move(run.report)});
    for (ReportedSelftest& one : told->selftests)
      joined_.selftests.push_back({source, std::move(one.report)});
  }

  /// The first of each run; the page has all.
  void print_findings() const {
    for (const ReportedRun& run : joined_.runs) {
      const std::vector<Finding>& findings = run.report.findings;
      if (findings.empty()) continue;
      fmt::print("\n{}: {} finding(s), the first of them:\n{}\n", run.source, findings.size(),
                 finding_sentence(findings.front()));
      for (const auto& [label, id] : sequence_labels(findings.front()))
        fmt::print("   {:<10} {}\n", label, id);
      fmt::print("   replay     {}\n", findings.front().replay);
      if (!findings.front().contrast.empty())
        fmt::print("   contrast   {}\n", findings.front().contrast);
    }
  }

  int report() const {
    for (const ReportPage& page : report_pages())
      write_report(*page.make(), joined_, folder_.path() / page.file);
    print_findings();
    const auto bad = std::ranges::count_if(
        joined_.steps, [](const ReportedStep& step) { return step.exit_code != 0; });
    fmt::print("\n{} of {} steps passed\n   page       {}\n   also       summary.md, junit.xml\n",
               joined_.steps.size() - static_cast<std::size_t>(bad), joined_.steps.size(),
               (folder_.path() / "index.html").string());
    const auto left = [](const ReportedStep& step) { return !has_verdict(step.exit_code); };
    const bool no_times =
        std::ranges::find(joined_.steps, "bench", &ReportedStep::name) != joined_.steps.end();
    if (std::ranges::any_of(joined_.steps, left))
      fmt::print("   resume     {} nightly --resume {}{}\n", program_,
                 shell_quoted(folder_.path().string()), no_times ? " --bench FILE" : "");
    return exit_code(joined_);
  }

  const Options& options_;
  NightFolder folder_;
  std::string program_;
  std::vector<NightStep> steps_;
  Interrupt interrupt_;
  Clock::time_point stop_at_ = Clock::time_point::max();
  JoinedRuns joined_;
};

}  // namespace

int run_night(const Options& options, NightFolder folder) {
  return Night(options, std::move(folder)).run();
}

}  // namespace parity
