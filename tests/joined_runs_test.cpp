#include "reports/joined_runs.hpp"

#include <gtest/gtest.h>

#include "tests/sample_report.hpp"

namespace parity {
namespace {

JoinedRuns with_codes(const std::vector<int>& codes) {
  JoinedRuns joined;
  for (const int code : codes) joined.steps.push_back({"step", "true", code, ""});
  return joined;
}

TEST(JoinedRunsTest, TheMostSeriousCodeWins) {
  EXPECT_EQ(exit_code(with_codes({0, 0})), 0);
  EXPECT_EQ(exit_code(with_codes({0, 4})), 4);
  EXPECT_EQ(exit_code(with_codes({4, 1, 0})), 1);
  EXPECT_EQ(exit_code(with_codes({1, 3, 4})), 3);
  EXPECT_EQ(exit_code(with_codes({3, 5, 1})), 5);
}

TEST(JoinedRunsTest, AStepThatWasKilledOrRefusedIsInfrastructure) {
  EXPECT_EQ(exit_code(with_codes({0, 2})), 5);
  EXPECT_EQ(exit_code(with_codes({3, 137})), 5);
}

TEST(JoinedRunsTest, NothingToJudgeByIsNoPass) {
  EXPECT_EQ(exit_code(JoinedRuns{}), 2);
  JoinedRuns times;
  times.times.push_back({"paged_decode_v1", "q=f32", "decode", 1000, 0.5});
  EXPECT_EQ(exit_code(times), 2);
}

TEST(JoinedRunsTest, RunsAndSelftestsCount) {
  JoinedRuns joined;
  joined.runs = {{"smoke.json", clean_report()}};
  EXPECT_EQ(exit_code(joined), 0);
  SelftestReport accused;
  SelftestRow control;
  control.control = true;  // And not found: something was accused.
  accused.rows = {control};
  joined.selftests = {{"selftest.json", accused}};
  EXPECT_EQ(exit_code(joined), 3);
  joined.runs.push_back({"planted.json", planted_report()});
  joined.runs.back().report.exit_code = 5;
  EXPECT_EQ(exit_code(joined), 5);
}

}  // namespace
}  // namespace parity
