// Tables of a job summary. What is long in a cell is cut; what is many is counted.
#include "reports/markdown_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/finding_sentence.hpp"
#include "reports/markdown_text.hpp"

namespace parity {
namespace {

constexpr std::size_t kRows = 50;
constexpr std::size_t kListed = 6;  ///< words of a cell

std::string_view meaning(int code) {
  switch (code) {
    case 0:
      return "all passed";
    case 1:
      return "fails alone";
    case 2:
      return "nothing ran";
    case 3:
      return "order-dependent";
    case 4:
      return "unstable";
    default:
      return "infrastructure";
  }
}

std::string exit_code_text(int code) {
  return fmt::format("{} ({})", code, meaning(code));
}

std::size_t passed(const RunReport& report) {
  return static_cast<std::size_t>(
      std::ranges::count(report.cases, Verdict::passed, &CaseSummary::verdict));
}

/// A table of at most kRows rows.
template <typename Values, typename Row>
std::string table(const std::vector<std::string>& heading, const Values& values, const Row& row) {
  if (values.empty()) return "";
  std::string text = markdown_heading(heading);
  for (std::size_t i = 0; i < std::min(values.size(), kRows); ++i)
    text += markdown_row(row(values[i]));
  if (values.size() > kRows) text += fmt::format("\nand {} more\n", values.size() - kRows);
  return text + "\n";
}

std::string run_name(const ReportedRun& run) {
  const RunReport& report = run.report;
  std::string name =
      fmt::format("{}, {}", markdown_code(report.suite), plural(report.coverage.orders, "order"));
  if (report.threads > 1) name += fmt::format(", {} threads", report.threads);
  if (!report.plants.empty()) name += ", planted: " + markdown_codes(report.plants, kListed);
  if (!run.source.empty()) name += fmt::format(" ({})", markdown_code(run.source));
  return name;
}

std::string pairs(const PairCount& count) {
  return fmt::format("{} of {}", count.exercised, count.possible);
}

}  // namespace

std::string markdown_codes(const std::vector<std::string>& words, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(words.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + markdown_code(words[i]);
  if (words.size() > most) text += fmt::format(" and {} more", words.size() - most);
  return text;
}

std::string markdown_runs(const JoinedRuns& joined) {
  return table({"run", "backend", "device", "cases passed", "findings", "exit code"}, joined.runs,
               [](const ReportedRun& run) -> std::vector<std::string> {
                 const RunReport& report = run.report;
                 return {run_name(run),
                         markdown_code(report.backend),
                         markdown_text(report.device_name, 200),
                         fmt::format("{} of {}", passed(report), report.cases.size()),
                         fmt::format("{}", report.findings.size()),
                         exit_code_text(report.exit_code)};
               });
}

std::string markdown_steps(const JoinedRuns& joined) {
  return table({"step", "exit code", "said", "command"}, joined.steps,
               [](const ReportedStep& step) -> std::vector<std::string> {
                 return {markdown_text(step.name, 200), fmt::format("{}", step.exit_code),
                         markdown_text(step.said, 300), markdown_inline_command(step.command)};
               });
}

std::string markdown_coverage(const JoinedRuns& joined) {
  return table({"run", "adjacent pairs", "ordered pairs", "pairs together", "executions",
                "process starts", "quarantined"},
               joined.runs, [](const ReportedRun& run) -> std::vector<std::string> {
                 const Coverage& coverage = run.report.coverage;
                 return {run_name(run),
                         pairs(coverage.adjacent),
                         pairs(coverage.ordered),
                         run.report.threads > 1 ? pairs(coverage.together) : "",
                         fmt::format("{}", coverage.executions),
                         fmt::format("{}", coverage.process_starts),
                         markdown_codes(run.report.quarantined, kListed)};
               });
}

std::string markdown_environment(const JoinedRuns& joined) {
  return table({"run", "device", "arch", "driver", "seed", "build", "noisy", "not probed"},
               joined.runs, [](const ReportedRun& run) -> std::vector<std::string> {
                 const RunReport& report = run.report;
                 return {run_name(run),
                         markdown_text(report.device_name, 200),
                         markdown_code(report.device_arch, 200),
                         markdown_code(report.device_driver, 200),
                         fmt::format("{}", report.seed),
                         markdown_code(report.build, 200),
                         markdown_codes(report.noisy, kListed),
                         markdown_codes(report.not_probed, 2 * kListed)};
               });
}

std::string markdown_times(const JoinedRuns& joined) {
  return table({"kernel", "dtypes", "bench", "backend", "device", "µs", "of the ceiling"},
               joined.times, [](const KernelTime& time) -> std::vector<std::string> {
                 return {markdown_code(time.kernel),
                         markdown_code(time.dtypes),
                         markdown_code(time.benchmark),
                         markdown_code(time.backend),
                         markdown_text(time.device, 200),
                         fmt::format("{:.1f}", time.nanoseconds * 1e-3),
                         time.of_ceiling > 0 ? fmt::format("{:.0f} %", time.of_ceiling * 100) : ""};
               });
}

}  // namespace parity
