// harness nightly: every step in a process of its own, then the reports of all.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/child_process.hpp"
#include "harness/commands.hpp"
#include "harness/interrupt.hpp"
#include "harness/night_folder.hpp"
#include "harness/night_steps.hpp"
#include "harness/paths.hpp"
#include "harness/plants/plants.hpp"
#include "harness/report_options.hpp"
#include "harness/run_folder.hpp"
#include "harness/session.hpp"
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

std::string command_of(const Options& options, const NightStep& step) {
  return fmt::format("{} {}", options.program, shell_quoted(step.words));
}

/// Above what a child's descriptors are mapped to.
Descriptor opened(const fs::path& path, int flags) {
  const Descriptor file(open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (file.number() < 0)
    throw DatasetError(fmt::format("{} cannot be opened: {}; make room or name another folder",
                                   path.string(), std::strerror(errno)));
  return above_standard(file.number());
}

/// First or last line that says something.
std::string telling_line(const fs::path& path, bool first) {
  std::ifstream in(path, std::ios::binary);
  std::string best;
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    best = shown_line(line);
    if (first) break;
  }
  return best;
}

/// This process's environment, and what makes the step keep its runs here and draw on our terminal.
std::vector<std::string> environment_of(const fs::path& runs) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (const std::string_view text = *variable;
        !text.starts_with("PARITY_RUNS=") && !text.starts_with("PARITY_PROGRESS="))
      variables.emplace_back(text);
  variables.push_back("PARITY_RUNS=" + runs.string());
  variables.push_back("PARITY_PROGRESS=3");
  return variables;
}

class Night {
 public:
  Night(const Options& options, NightFolder folder)
      : options_(options), folder_(std::move(folder)), ended_(folder_.ended()) {
    if (options_.budget) stop_at_ = Clock::now() + *options_.budget;
  }

  int run() {
    const std::vector<NightStep> steps = night_steps(options_);
    joined_.commit = options_.commit;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      fmt::print("== {} of {}, {}: {}\n", i + 1, steps.size(), steps[i].name,
                 command_of(options_, steps[i]));
      std::fflush(stdout);
      joined_.steps.push_back(ended(steps[i]).value_or(ReportedStep{}));
      if (joined_.steps.back().name.empty()) joined_.steps.back() = run(steps[i]);
      folder_.record(joined_);
      const ReportedStep& step = joined_.steps.back();
      fmt::print("   exit {}: {}\n", step.exit_code, step.said);
    }
    for (const NightStep& step : steps)
      if (step.writes_json && fs::exists(folder_.json(step)))
        read_into(joined_, folder_.json(step));
    // The reports lie beside them.
    for (ReportedRun& run : joined_.runs) run.source = fs::path(run.source).filename();
    for (ReportedSelftest& one : joined_.selftests) one.source = fs::path(one.source).filename();
    for (const fs::path& times : options_.nightly.bench) read_into(joined_, times);
    return report();
  }

 private:
  std::optional<ReportedStep> ended(const NightStep& step) const {
    const auto before = std::ranges::find(ended_, step.name, &ReportedStep::name);
    return before == ended_.end() ? std::nullopt : std::optional(*before);
  }

  std::string why_stopped() const {
    if (interrupt_.requested()) return "stopped";
    return Clock::now() >= stop_at_ ? "the budget is spent" : "";
  }

  ReportedStep run(const NightStep& step) {
    ReportedStep done{step.name, command_of(options_, step), kInfrastructure, ""};
    if (const std::string why = why_stopped(); !why.empty()) {
      done.said = "not run: " + why;
      return done;
    }
    const int code = exit_code_of(step);
    const std::string why = why_stopped();
    done.said = telling_line(folder_.said(step), step.verdict_first);
    if (done.said.empty()) done.said = telling_line(folder_.errors(step), false);
    // Its own code would be that of a part.
    if (!why.empty() && interrupted_)
      done.said = fmt::format("{}; {}", why, done.said);
    else
      done.exit_code = code;
    std::error_code ignored;
    if (done.exit_code != kInfrastructure) fs::remove_all(folder_.runs(step), ignored);
    return done;
  }

  /// What a killed or stopped one had begun; nothing where there is none.
  std::optional<fs::path> begun(const NightStep& step) const {
    if (!step.keeps_journal) return std::nullopt;
    for (const FoundRun& found : found_runs(folder_.runs(step)))
      if (found.journal && found.journal->head.build == folder_.head().build) return found.path;
    return std::nullopt;
  }

  std::string line_of(const NightStep& step) const {
    std::vector<std::string> words = step.words;
    if (const std::optional<fs::path> run = begun(step)) words = {"--resume", run->string()};
    if (step.writes_json) words.insert(words.end(), {"--json", folder_.json(step).string()});
    return fmt::format("{} {}", options_.program, shell_quoted(words));
  }

  int exit_code_of(const NightStep& step) {
    std::error_code ignored;
    fs::remove(folder_.json(step), ignored);
    const Descriptor nothing = opened("/dev/null", O_RDWR);
    const Descriptor output = opened(folder_.said(step), O_WRONLY | O_CREAT | O_TRUNC);
    const Descriptor errors = opened(folder_.errors(step), O_WRONLY | O_CREAT | O_TRUNC);
    const Descriptor terminal = above_standard(STDERR_FILENO);
    const ChildProcess child(line_of(step), environment_of(folder_.runs(step)),
                             {.input = nothing.number(),
                              .output = output.number(),
                              .errors = errors.number(),
                              .replies = terminal.number()});
    interrupted_ = false;
    while (!child.wait(Clock::now() + std::chrono::milliseconds(100)))
      if (!interrupted_ && !why_stopped().empty()) {
        child.interrupt();
        interrupted_ = true;
      }
    std::ifstream in(folder_.errors(step), std::ios::binary);
    for (std::string line; std::getline(in, line);) fmt::print(stderr, "{}\n", shown_line(line));
    return child.exit_code().value_or(kInfrastructure);
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
    const auto left = [](const ReportedStep& step) { return step.exit_code == kInfrastructure; };
    if (std::ranges::any_of(joined_.steps, left))
      fmt::print("   resume     {} nightly --resume {}\n", options_.program,
                 shell_quoted(folder_.path().string()));
    return exit_code(joined_);
  }

  const Options& options_;
  NightFolder folder_;
  std::vector<ReportedStep> ended_;
  Interrupt interrupt_;
  Clock::time_point stop_at_ = Clock::time_point::max();
  bool interrupted_ = false;  ///< the step that runs was asked to stop
  JoinedRuns joined_;
};

/// What would end one of the steps at once, or be noticed only hours later.
void check(const Options& options) {
  for (const std::string& name : options.plants) (void)plant_named(name);
  (void)night_steps(options);
  (void)select(suite_cases(registry(), Suite::smoke), options.filters);
  JoinedRuns times;
  for (const fs::path& path : options.nightly.bench) read_into(times, path);
  if (std::error_code ignored; !fs::is_regular_file(options.nightly.golden, ignored))
    throw UsageError(
        fmt::format("--golden {}: is not there; name golden data, or write some: harness golden "
                    "regenerate --out FILE",
                    options.nightly.golden.string()));
}

int begin(const Options& options) {
  if (options.nightly.out.empty())
    throw UsageError("nightly needs --out DIR, a new folder, or --resume DIR");
  check(options);
  JournalHead head;
  head.arguments = options.arguments;
  head.folder = fs::current_path().string();
  head.build = build_id();
  return Night(options, NightFolder(options.nightly.out, head)).run();
}

int go_on(const Options& asked) {
  NightFolder folder(asked.resume, build_id());
  std::optional<Options> options = parse_options(folder.head().arguments);
  if (!options || options->command != Command::nightly)
    throw UsageError(fmt::format("--resume {}: no night began there", asked.resume));
  options->budget = asked.budget;
  if (asked.jobs > 0) options->jobs = asked.jobs;
  if (!asked.commit.empty()) options->commit = asked.commit;
  for (const fs::path& path : asked.nightly.bench)
    options->nightly.bench.push_back(fs::absolute(path));
  std::error_code failed;
  fs::current_path(folder.head().folder, failed);  // Paths in its options start there.
  if (failed)
    throw UsageError(fmt::format("--resume {}: began in {}: {}", asked.resume, folder.head().folder,
                                 failed.message()));
  check(*options);
  return Night(*options, std::move(folder)).run();
}

}  // namespace

int nightly_command(const Options& options) {
  return options.resume.empty() ? begin(options) : go_on(options);
}

}  // namespace parity
