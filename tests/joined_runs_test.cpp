#include "reports/joined_runs.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "reports/html_sections.hpp"
#include "reports/report.hpp"
#include "tests/html_page.hpp"
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

JoinedRuns one_run(int code, bool interrupted, const std::string& worker_error = "") {
  RunReport report = clean_report();
  report.exit_code = code;
  report.interrupted = interrupted;
  report.worker_error = worker_error;
  JoinedRuns joined;
  joined.runs = {{"run.json", report}};
  return joined;
}

TEST(JoinedRunsTest, OnlyWhatSaysThatItWasStoppedIsInterrupted) {
  EXPECT_EQ(verdict_word(with_codes({0, 4})), "UNSTABLE");
  EXPECT_EQ(verdict_word(with_codes({5})), "COULD NOT RUN");
  EXPECT_EQ(verdict_word(one_run(4, false)), "UNSTABLE");
  EXPECT_EQ(verdict_word(one_run(4, true)), "INTERRUPTED");
  EXPECT_EQ(verdict_word(one_run(5, true)), "INTERRUPTED");
  EXPECT_EQ(verdict_word(one_run(5, false)), "COULD NOT RUN");
  EXPECT_EQ(verdict_word(one_run(5, true, "it died")), "WORKER ERROR");
  JoinedRuns joined = one_run(4, true);
  joined.runs.push_back(one_run(4, false).runs[0]);
  EXPECT_EQ(verdict_word(joined), "UNSTABLE");
}

/// The word before the first colon, as the console has it.
std::string console_word(const JoinedRuns& joined) {
  std::ostringstream out;
  make_console_writer(false)->write(joined, out);
  return out.str().substr(0, out.str().find(':'));
}

TEST(JoinedRunsTest, EveryWriterHasTheSameWord) {
  for (const JoinedRuns& joined :
       {one_run(0, false), one_run(1, false), one_run(1, true), one_run(3, true), one_run(4, false),
        one_run(4, true), one_run(5, true), one_run(5, false), one_run(5, false, "it died"),
        one_run(2, false), with_codes({4}), with_codes({137}), JoinedRuns{}}) {
    const std::string word(verdict_word(joined));
    std::ostringstream markdown;
    make_markdown_writer()->write(joined, markdown);
    EXPECT_TRUE(markdown.str().starts_with("# parity: " + word + "\n")) << markdown.str();
    EXPECT_EQ(test::count_of(html_headline(joined), "<h1>" + word + "</h1>"), 1u) << word;
    if (!joined.runs.empty()) {
      EXPECT_EQ(console_word(joined), word);
    }
  }
}

TEST(JoinedRunsTest, NothingToJudgeByIsNoPass) {
  EXPECT_EQ(exit_code(JoinedRuns{}), 2);
  JoinedRuns times;
  times.times.push_back({.kernel = "paged_decode_v1", .nanoseconds = 1000, .of_ceiling = 0.5});
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
