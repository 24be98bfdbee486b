// The top of the page: what came out, in a word, a sentence and a few figures.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/finding_sentence.hpp"
#include "reports/html_sections.hpp"
#include "reports/html_text.hpp"
#include "reports/reported_case.hpp"

namespace parity {
namespace {

/// "; step golden verify ended with exit 5".
std::string words_of_others(const JoinedRuns& joined) {
  std::string text;
  for (const ReportedSelftest& selftest : joined.selftests)
    text += fmt::format("; {} of {} plants found and named, {}", selftest.report.plants_named(),
                        selftest.report.plants(),
                        plural(selftest.report.false_accusations(), "false accusation"));
  for (const ReportedStep& step : joined.steps)
    if (step.exit_code != 0)
      text += fmt::format("; step {} ended with exit {}", step.name, step.exit_code);
  return text;
}

std::string figure(std::string_view label, const std::string& value, const std::string& note) {
  return fmt::format("<div><dt>{}</dt><dd><b>{}</b> <span>{}</span></dd></div>\n", label,
                     html_text(value), html_text(note));
}

/// Of the run that exercised the largest share of its pairs: sums over runs would mean nothing.
std::string pairs_figure(const JoinedRuns& joined) {
  const auto share = [](const ReportedRun& run) {
    const PairCount& pairs = run.report.coverage.adjacent;
    return pairs.possible == 0
               ? 0.0
               : static_cast<double>(pairs.exercised) / static_cast<double>(pairs.possible);
  };
  const auto most = std::ranges::max_element(joined.runs, {}, share);
  if (most == joined.runs.end()) return figure("Adjacent pairs", "none", "no run is here");
  const PairCount& pairs = most->report.coverage.adjacent;
  return figure(
      "Adjacent pairs", fmt::format("{}", pairs.exercised),
      fmt::format("of {} possible{}{}", pairs.possible, joined.runs.size() > 1 ? ", suite " : "",
                  joined.runs.size() > 1 ? most->report.suite : ""));
}

std::string worst_figure(const JoinedRuns& joined) {
  std::optional<double> worst;
  std::string_view id;
  for (const ReportedRun& run : joined.runs)
    for (const CaseSummary& summary : run.report.cases) {
      const auto share = of_tolerance(summary);
      if (!share || (worst && !worse(*share, *worst))) continue;
      worst = share;
      id = summary.id;
    }
  if (!worst) return figure("Worst error", "none", "nothing was compared");
  return figure("Worst error", short_number(*worst),
                fmt::format("{} the tolerance, {}", *worst <= 1 ? "of" : "times", kernel_of(id)));
}

std::string figures(const JoinedRuns& joined) {
  std::size_t cases = 0;
  std::size_t passed = 0;
  std::size_t findings = 0;
  std::size_t executions = 0;
  std::size_t starts = 0;
  for (const ReportedRun& run : joined.runs) {
    cases += run.report.cases.size();
    passed += static_cast<std::size_t>(
        std::ranges::count(run.report.cases, Verdict::passed, &CaseSummary::verdict));
    findings += run.report.findings.size();
    executions += run.report.coverage.executions;
    starts += run.report.coverage.process_starts;
  }
  return "<dl class=\"figures\">\n" +
         figure("Cases passed", fmt::format("{}", passed), fmt::format("of {}", cases)) +
         figure("Findings", fmt::format("{}", findings),
                findings == 0 ? "nothing to explain" : "") +
         pairs_figure(joined) + worst_figure(joined) +
         figure("Executions", fmt::format("{}", executions),
                "in " + plural(starts, "process start")) +
         "</dl>\n";
}

std::string first_finding(const JoinedRuns& joined) {
  for (const ReportedRun& run : joined.runs)
    if (!run.report.findings.empty())
      return fmt::format("<p class=\"first\"><a href=\"#finding-1\">Finding 1</a> {}</p>\n",
                         html_text(finding_sentence(run.report.findings.front())));
  return "";
}

/// What nobody may overlook whatever the verdict is.
std::string notices(const JoinedRuns& joined) {
  std::string markup;
  for (std::size_t i = 0; i < joined.runs.size(); ++i) {
    const RunReport& report = joined.runs[i].report;
    if (!report.worker_error.empty())
      markup += fmt::format("<p class=\"notice\"><b>Worker error</b> in {}: {}</p>\n",
                            html_text(run_name(joined, i)), html_text(report.worker_error));
    if (report.interrupted)
      markup += fmt::format(
          "<p class=\"notice\"><b>Interrupted</b>: {} was stopped, the rest did not run.{}</p>\n",
          html_text(run_name(joined, i)),
          report.resume.empty() ? "" : " Go on with " + html_code(report.resume));
  }
  return markup;
}

}  // namespace

std::string verdict_sentence(const JoinedRuns& joined) {
  std::map<Verdict, std::size_t> counts;
  std::size_t cases = 0;
  std::size_t findings = 0;
  std::vector<std::string> plants;
  for (const ReportedRun& run : joined.runs) {
    for (const CaseSummary& summary : run.report.cases) ++counts[summary.verdict];
    cases += run.report.cases.size();
    findings += run.report.findings.size();
    for (const std::string& plant : run.report.plants)
      if (std::ranges::find(plants, plant) == plants.end()) plants.push_back(plant);
  }
  std::string text = joined.runs.empty() ? "no run is here"
                                         : fmt::format("{} of {} passed", counts[Verdict::passed],
                                                       plural(cases, "case"));
  for (const auto& [verdict, count] : counts)
    if (verdict != Verdict::passed && count > 0)
      text += fmt::format(", {} {}", count, name(verdict));
  if (joined.runs.size() > 1) text += fmt::format(", in {} runs", joined.runs.size());
  if (findings > 0) text += "; " + plural(findings, "finding");
  if (findings == 0 && same_bits_everywhere(joined.runs))
    text += ", each with the same bits in every run";
  text += words_of_others(joined);
  if (!plants.empty()) text += fmt::format(" (planted: {})", fmt::join(plants, ", "));
  return text;
}

std::string html_headline(const JoinedRuns& joined) {
  const std::string_view word = verdict_word(joined);
  std::string markup = fmt::format(
      "<header class=\"verdict {}\">\n<p class=\"kicker\">parity report{}</p>\n"
      "<h1>{}</h1>\n<p class=\"sentence\">{}.</p>\n",
      word == "PASSED"                              ? "good"
      : word == "UNSTABLE" || word == "INTERRUPTED" ? "doubt"
                                                    : "bad",
      joined.commit.empty() ? "" : " of commit " + html_code(joined.commit), word,
      html_text(verdict_sentence(joined)));
  return markup + notices(joined) + first_finding(joined) + figures(joined) + "</header>\n";
}

}  // namespace parity
