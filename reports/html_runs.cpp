// Steps of a night, runs, coverage and environment: one row or one column each.
#include <fmt/format.h>

#include <algorithm>

#include "reports/html_sections.hpp"
#include "reports/html_text.hpp"

namespace parity {
namespace {

std::string or_not_told(const std::string& text) {
  return text.empty() ? "not told" : html_text(text);
}

std::string pairs(const PairCount& count) {
  std::string share;
  if (count.possible > 0) {
    const std::size_t percent = count.exercised * 100 / count.possible;
    const bool some = percent == 0 && count.exercised > 0;
    share = some ? " (less than 1 %)" : fmt::format(" ({} %)", percent);
  }
  return fmt::format("{} of {} planned, {} possible{}", count.exercised, count.planned,
                     count.possible, share);
}

/// A table with a row for each label and a column for each run.
class Comparison {
 public:
  Comparison(std::string id, std::string caption, std::string rows, const JoinedRuns& joined)
      : joined_(joined) {
    table_ = {.id = std::move(id),
              .caption = std::move(caption),
              .columns = {{std::move(rows)}},
              .rows = {}};
    for (std::size_t i = 0; i < joined.runs.size(); ++i)
      table_.columns.push_back({run_name(joined, i)});
  }

  template <typename Value>
  void row(std::string_view label, const Value& value) {
    std::vector<std::string> cells = {html_text(label)};
    for (const ReportedRun& run : joined_.runs) cells.push_back(value(run.report));
    table_.rows.push_back(std::move(cells));
  }

  std::string markup() const { return html_table(table_); }

 private:
  const JoinedRuns& joined_;
  HtmlTable table_;
};

}  // namespace

std::string run_name(const JoinedRuns& joined, std::size_t index) {
  const std::string& source = joined.runs[index].source;
  if (!source.empty()) return source;
  return joined.runs.size() == 1 ? "this run" : fmt::format("run {}", index + 1);
}

std::vector<std::string> not_probed(const RunReport& report) {
  const bool told = !report.not_probed.empty() || report.findings.empty();
  return told ? report.not_probed : report.findings.front().not_probed;
}

HtmlSection steps_section(const JoinedRuns& joined) {
  HtmlTable table = {.id = "steps-table",
                     .caption = "What was run, in this order",
                     .columns = {{"Step"}, {"Result"}, {"Exit", true}, {"It said"}, {"Command"}},
                     .rows = {}};
  for (const ReportedStep& step : joined.steps)
    table.rows.push_back(
        {html_text(step.name), html_badge(step.exit_code == 0 ? "passed" : "failed"),
         fmt::format("{}", step.exit_code), html_text(step.said), html_code(step.command)});
  const auto failed =
      std::ranges::count_if(joined.steps, [](const auto& s) { return s.exit_code != 0; });
  return {"steps", "Steps", joined.steps.empty() ? "" : html_table(table),
          failed == 0 ? "" : fmt::format("{} failed", failed)};
}

HtmlSection runs_section(const JoinedRuns& joined) {
  HtmlTable table = {.id = "runs-table",
                     .caption = "Runs that this page joins",
                     .columns = {{"Run"},
                                 {"Result"},
                                 {"Exit", true},
                                 {"Suite"},
                                 {"Device"},
                                 {"Cases passed", true},
                                 {"Findings", true}},
                     .rows = {}};
  for (std::size_t i = 0; i < joined.runs.size(); ++i) {
    const RunReport& report = joined.runs[i].report;
    const auto passed = std::ranges::count(report.cases, Verdict::passed, &CaseSummary::verdict);
    table.rows.push_back({html_text(run_name(joined, i)), html_text(verdict_word(report)),
                          fmt::format("{}", report.exit_code), html_text(report.suite),
                          html_text(report.backend + ", " + report.device_name),
                          fmt::format("{} of {}", passed, report.cases.size()),
                          fmt::format("{}", report.findings.size())});
  }
  return {"runs", "Runs", joined.runs.size() < 2 ? "" : html_table(table), ""};
}

HtmlSection coverage_section(const JoinedRuns& joined) {
  if (joined.runs.empty()) return {"coverage", "Coverage", "", ""};
  Comparison table("coverage-table", "Pairs of cases, and what ran", "Figure", joined);
  table.row("Adjacent pairs", [](const RunReport& r) { return pairs(r.coverage.adjacent); });
  table.row("Ordered pairs", [](const RunReport& r) { return pairs(r.coverage.ordered); });
  if (any_run(joined, [](const RunReport& r) { return r.threads > 1; }))
    table.row("Pairs together", [](const RunReport& r) {
      return r.threads > 1 ? pairs(r.coverage.together) : "one case at a time";
    });
  table.row("Orders", [](const RunReport& r) { return fmt::format("{}", r.coverage.orders); });
  table.row("Executions",
            [](const RunReport& r) { return fmt::format("{}", r.coverage.executions); });
  table.row("Process starts",
            [](const RunReport& r) { return fmt::format("{}", r.coverage.process_starts); });
  table.row("Quarantined", [](const RunReport& r) { return html_codes(r.quarantined); });
  table.row("Noise permitted", [](const RunReport& r) { return html_codes(r.noisy); });
  table.row("Not probed", [](const RunReport& r) {
    const std::vector<std::string> carriers = not_probed(r);
    return carriers.empty() ? "not told" : html_codes(carriers);
  });
  return {
      "coverage", "Coverage",
      "<p>Adjacent: one case ran directly after the other in one process; ordered: at any time "
      "before it. Quarantined cases crash or time out alone, so their pairs did not run. Nobody "
      "looked at the carriers that are not probed.</p>\n" +
          table.markup(),
      ""};
}

HtmlSection environment_section(const JoinedRuns& joined) {
  if (joined.runs.empty()) return {"environment", "Environment", "", ""};
  Comparison table("environment-table", "Where and how it ran", "Property", joined);
  table.row("Backend", [](const RunReport& r) { return or_not_told(r.backend); });
  table.row("Device", [](const RunReport& r) { return or_not_told(r.device_name); });
  table.row("Architecture", [](const RunReport& r) { return or_not_told(r.device_arch); });
  table.row("Driver", [](const RunReport& r) { return or_not_told(r.device_driver); });
  table.row("Suite", [](const RunReport& r) { return or_not_told(r.suite); });
  table.row("Seed", [](const RunReport& r) { return fmt::format("{}", r.seed); });
  table.row("Host threads", [](const RunReport& r) { return fmt::format("{}", r.threads); });
  table.row("Build", [](const RunReport& r) { return or_not_told(r.build); });
  table.row("Plants", [](const RunReport& r) { return html_codes(r.plants); });
  table.row("Commit", [&](const RunReport&) { return or_not_told(joined.commit); });
  return {"environment", "Environment", table.markup(), ""};
}

}  // namespace parity
