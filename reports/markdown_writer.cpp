// The job summary of a CI page, in Markdown: the verdict, what ran, each finding with the commands
// that show it again, coverage, environment. Its length is bounded.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "reports/finding_sentence.hpp"
#include "reports/markdown_tables.hpp"
#include "reports/markdown_text.hpp"
#include "reports/report.hpp"
#include "reports/selftest_writer.hpp"

namespace parity {
namespace {

constexpr std::size_t kFindings = 30;     ///< of all runs
constexpr std::size_t kRowsWrong = 50;    ///< of a selftest
constexpr std::size_t kSteps = 26;        ///< of a sequence
constexpr std::size_t kListed = 6;        ///< other victims and exposed functions, each
constexpr std::size_t kListedCases = 20;  ///< cases that are not passed and stand in no finding
/// A job summary of GitHub's takes 1 MiB. Findings end earlier: the tables behind them want room.
constexpr std::size_t kRoom = 1000000;
constexpr std::size_t kRoomOfFindings = 700000;

std::string selftest_text(const SelftestReport& report) {
  std::string text = fmt::format(
      "Selftest on {}: {} of {} plants found, {} exactly named; false accusations: {}; exit code "
      "{}.\n",
      markdown_code(report.backend), report.plants_found(), report.plants(), report.plants_named(),
      report.false_accusations(), exit_code(report));
  if (report.interrupted) text += "Interrupted: the rest did not run.\n";
  std::string rows;
  std::size_t wrong = 0;
  for (const SelftestRow& row : report.rows) {
    if (!row.applicable || right(row)) continue;
    const bool unsaid = row.missing.empty() && row.worker_error.empty();
    for (const std::string& why :
         {unsaid ? std::string(result_word(row)) : row.missing, row.worker_error})
      if (!why.empty() && ++wrong <= kRowsWrong)
        rows += fmt::format("- {}: {}, again: {}\n", markdown_code(row.name),
                            markdown_text(why, 300), markdown_inline_command(row.command));
  }
  if (wrong > kRowsWrong) rows += fmt::format("- and {} more\n", wrong - kRowsWrong);
  return text + (rows.empty() ? "" : "\n" + rows) + "\n";
}

std::string finding_text(std::size_t number, const Finding& finding) {
  std::string text =
      fmt::format("### {}. {}\n\n", number, markdown_text(finding_sentence(finding)));
  const auto labels = sequence_labels(finding);
  for (std::size_t i = 0; i < std::min(labels.size(), kSteps); ++i)
    text += fmt::format("- {}: {}\n", labels[i].first, markdown_code(labels[i].second));
  if (labels.size() > kSteps) text += fmt::format("- and {} more\n", labels.size() - kSteps);
  text += fmt::format("- {}, {}, {}: seen {} of {} in fresh processes, against {} of {} alone\n",
                      markdown_code(name(finding.kind)), markdown_code(name(finding.fingerprint)),
                      markdown_code(name(finding.role)), finding.reproduced.hits,
                      finding.reproduced.runs, finding.alone.hits, finding.alone.runs);
  if (!finding.detail.empty()) text += fmt::format("- {}\n", markdown_text(finding.detail));
  if (!finding.also.empty())
    text +=
        fmt::format("- {}: {}\n", other_victims(finding), markdown_codes(finding.also, kListed));
  if (!finding.exposed.empty())
    text += fmt::format("- exposed: {}\n", markdown_codes(finding.exposed, kListed));
  text += "\nReplay:\n\n" + markdown_command(finding.replay);
  if (!finding.contrast.empty()) text += "\nContrast:\n\n" + markdown_command(finding.contrast);
  return text + "\n";
}

std::string other_cases(const RunReport& report) {
  std::string text;
  std::size_t others = 0;
  for (const CaseSummary* summary : cases_without_finding(report)) {
    if (++others > kListedCases) continue;
    const std::string why = markdown_text(summary->detail, 300);
    text += fmt::format("- {} {}{}{}\n", name(summary->verdict), markdown_code(summary->id),
                        why.empty() ? "" : ": ", why);
  }
  if (others > kListedCases) text += fmt::format("- and {} more\n", others - kListedCases);
  return text.empty() ? "" : text + "\n";
}

/// What is of no case.
std::string run_itself(const RunReport& report) {
  std::string text;
  if (!report.worker_error.empty())
    text += fmt::format("Worker error: {}\n\n", markdown_text(report.worker_error));
  if (report.interrupted) text += "Interrupted: the rest did not run.\n\n";
  if (!report.resume.empty()) text += "Go on:\n\n" + markdown_command(report.resume, 2000) + "\n";
  return text;
}

/// Takes what there is room for, and says what it left out.
class Page {
 public:
  /// `what`: "3 rows".
  void add(const std::string& text, std::string_view what, std::size_t room = kRoom) {
    if (fits(text, room))
      text_ += text;
    else
      text_ +=
          fmt::format("({}: left out, this page is full; the JSON report holds them)\n\n", what);
  }
  /// A heading, and a table that may be empty.
  void add_section(std::string_view heading, const std::string& table) {
    if (!table.empty()) add(fmt::format("## {}\n\n{}", heading, table), heading);
  }
  bool fits(const std::string& text, std::size_t room) const {
    return text_.size() + text.size() <= room;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string verdict(const JoinedRuns& joined) {
  const int code = exit_code(joined);
  std::size_t cases = 0;
  std::size_t well = 0;
  std::size_t findings = 0;
  for (const ReportedRun& run : joined.runs) {
    cases += run.report.cases.size();
    well += static_cast<std::size_t>(
        std::ranges::count(run.report.cases, Verdict::passed, &CaseSummary::verdict));
    findings += run.report.findings.size();
  }
  std::string text = fmt::format("# parity: {}\n\n", verdict_word(joined));
  if (!joined.runs.empty())
    text += fmt::format("{} of {} cases passed; findings: {}. ", well, cases, findings);
  text += fmt::format("Exit code {}.", code);
  if (!joined.commit.empty()) text += fmt::format(" Commit {}.", markdown_code(joined.commit));
  return text + "\n\n";
}

/// Of all runs, numbered through.
void add_findings(Page& page, const JoinedRuns& joined) {
  std::size_t all = 0;
  std::size_t shown = 0;
  for (const ReportedRun& run : joined.runs) {
    for (const Finding& finding : run.report.findings) {
      if (++all == 1) page.add("## Findings\n\n", "Findings");
      if (shown + 1 != all || shown == kFindings) continue;  // the first that is left out ends it
      const std::string text = finding_text(all, finding);
      if (!page.fits(text, kRoomOfFindings)) continue;
      page.add(text, "a finding");
      ++shown;
    }
  }
  if (all > shown) page.add(fmt::format("and {} more\n\n", all - shown), "findings");
}

class MarkdownWriter final : public ReportWriter {
 public:
  void write(const JoinedRuns& joined, std::ostream& out) const override {
    Page page;
    page.add(verdict(joined), "verdict");
    page.add(markdown_runs(joined), "runs");
    page.add(markdown_steps(joined), "steps");
    for (const ReportedSelftest& selftest : joined.selftests)
      page.add(selftest_text(selftest.report), "a selftest", kRoomOfFindings);
    for (const ReportedRun& run : joined.runs)
      page.add(run_itself(run.report), "how a run ended", kRoomOfFindings);
    add_findings(page, joined);
    for (const ReportedRun& run : joined.runs)
      page.add(other_cases(run.report), "cases of no finding", kRoomOfFindings);
    page.add_section("Coverage", markdown_coverage(joined));
    page.add_section("Environment", markdown_environment(joined));
    page.add_section("Times", markdown_times(joined));
    out << page.text();
  }
};

}  // namespace

std::unique_ptr<ReportWriter> make_markdown_writer() {
  return std::make_unique<MarkdownWriter>();
}

}  // namespace parity
