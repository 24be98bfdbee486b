#include "reports/joined_runs.hpp"

#include <algorithm>
#include <array>
#include <ranges>

namespace parity {

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

}  // namespace parity
