#include "reports/joined_runs.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <set>

namespace parity {
namespace {

bool any_selftest(const JoinedRuns& joined, bool (*holds)(const SelftestReport&)) {
  return std::ranges::any_of(
      joined.selftests, [&](const ReportedSelftest& selftest) { return holds(selftest.report); });
}

bool lost_a_worker(const SelftestReport& report) {
  return std::ranges::any_of(report.rows,
                             [](const SelftestRow& row) { return !row.worker_error.empty(); });
}

std::string_view word_of_infrastructure(const JoinedRuns& joined) {
  if (any_run(joined, [](const RunReport& r) { return !r.worker_error.empty(); }) ||
      any_selftest(joined, lost_a_worker))
    return "WORKER ERROR";
  if (any_run(joined, [](const RunReport& r) { return r.interrupted; }) ||
      any_selftest(joined, [](const SelftestReport& report) { return report.interrupted; }))
    return "INTERRUPTED";
  return any_run(joined, [](const RunReport& r) { return r.exit_code == 2; }) ? "NOTHING RAN"
                                                                              : "COULD NOT RUN";
}

/// Of exit code 4, which a stopped run has where all that it found is not yet confirmed.
std::string_view word_of_doubt(const JoinedRuns& joined) {
  const auto stopped = [](const RunReport& r) { return r.exit_code == 4 && r.interrupted; };
  const auto unstable = [](const RunReport& r) { return r.exit_code == 4 && !r.interrupted; };
  return any_run(joined, stopped) && !any_run(joined, unstable) ? "INTERRUPTED" : "UNSTABLE";
}

}  // namespace

int exit_code(const JoinedRuns& joined) {
  std::vector<int> codes;
  for (const ReportedRun& run : joined.runs) codes.push_back(run.report.exit_code);
  for (const ReportedSelftest& selftest : joined.selftests)
    codes.push_back(exit_code(selftest.report));
  for (const ReportedStep& step : joined.steps) codes.push_back(step.exit_code);
  if (codes.empty()) return 2;
  // From the least serious to the most.
  constexpr std::array<int, 5> kSeverity = {0, 4, 1, 3, 5};
  const auto severity = [&](int code) {
    const auto* const found = std::ranges::find(kSeverity, code);
    return found == kSeverity.end() ? kSeverity.size() - 1
                                    : static_cast<std::size_t>(found - kSeverity.begin());
  };
  return kSeverity[std::ranges::max(codes | std::views::transform(severity))];
}

std::string_view verdict_word(const JoinedRuns& joined) {
  switch (exit_code(joined)) {
    case 0:
      return "PASSED";
    case 2:
      return "NOTHING RAN";
    case 3:
      return "ORDER-DEPENDENT";
    case 4:
      return word_of_doubt(joined);
    case 5:
      return word_of_infrastructure(joined);
    default:
      return "FAILED";
  }
}

std::string_view verdict_word(const RunReport& report) {
  JoinedRuns alone;
  alone.runs.push_back({"", report});
  return verdict_word(alone);
}

std::string device_text(const KernelTime& time) {
  const bool both = !time.backend.empty() && !time.device.empty();
  return time.backend + (both ? ", " : "") + time.device;
}

bool same_bits_everywhere(std::span<const ReportedRun> runs) {
  bool again = false;
  for (const ReportedRun& run : runs)
    for (const CaseSummary& summary : run.report.cases) {
      if (summary.verdict != Verdict::passed || summary.distinct_bits != 1) return false;
      again = again || summary.runs > 1;
    }
  return again;
}

std::vector<const CaseSummary*> cases_without_finding(const RunReport& report) {
  std::set<std::string_view> told;
  for (const Finding& finding : report.findings) {
    told.insert(finding.victim);
    told.insert(finding.also.begin(), finding.also.end());
  }
  std::vector<const CaseSummary*> cases;
  for (const CaseSummary& summary : report.cases)
    if (summary.verdict != Verdict::passed && !told.contains(summary.id)) cases.push_back(&summary);
  return cases;
}

}  // namespace parity
