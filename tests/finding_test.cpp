// Names in reports, and the exit code that a report earns.
#include "harness/finding.hpp"

#include <gtest/gtest.h>

#include "harness/chance.hpp"

namespace parity {
namespace {

RunReport report_of(std::vector<Verdict> verdicts, std::vector<Kind> kinds = {}) {
  RunReport report;
  for (const Verdict verdict : verdicts) {
    CaseSummary summary;
    summary.id = "case" + std::to_string(report.cases.size());
    summary.verdict = verdict;
    report.cases.push_back(summary);
  }
  for (const Kind kind : kinds) {
    Finding finding;
    finding.kind = kind;
    finding.victim = "case0";
    report.findings.push_back(finding);
  }
  return report;
}

TEST(FindingTest, AllPassedOrUnsupportedIsZero) {
  EXPECT_EQ(exit_code(report_of({Verdict::passed, Verdict::passed})), 0);
  EXPECT_EQ(exit_code(report_of({Verdict::passed, Verdict::unsupported})), 0);
}

TEST(FindingTest, NoExecutedCaseIsTwo) {
  EXPECT_EQ(exit_code(report_of({})), 2);
  EXPECT_EQ(exit_code(report_of({Verdict::unsupported, Verdict::not_run})), 2);
}

TEST(FindingTest, AnyCaseThatIsNotWellIsOne) {
  for (const Verdict verdict : {Verdict::failed, Verdict::untrusted, Verdict::error,
                                Verdict::crashed, Verdict::timed_out, Verdict::not_run})
    EXPECT_EQ(exit_code(report_of({Verdict::passed, verdict})), 1) << name(verdict);
}

TEST(FindingTest, MostSeriousOfThreeOneFourWins) {
  const std::vector<Verdict> ill = {Verdict::failed, Verdict::passed};
  EXPECT_EQ(exit_code(report_of(ill, {Kind::unstable})), 4);
  EXPECT_EQ(exit_code(report_of(ill, {Kind::unstable, Kind::mismatch})), 1);
  EXPECT_EQ(exit_code(report_of(ill, {Kind::unstable, Kind::crash, Kind::order_dependent})), 3);
  for (const Kind kind : {Kind::mismatch, Kind::hygiene, Kind::crash, Kind::timeout, Kind::error})
    EXPECT_EQ(exit_code(report_of(ill, {kind})), 1) << name(kind);
}

TEST(FindingTest, FindingCountsWhereEveryVerdictPassed) {
  EXPECT_EQ(exit_code(report_of({Verdict::passed}, {Kind::order_dependent})), 3);
  EXPECT_EQ(exit_code(report_of({Verdict::passed}, {Kind::unstable})), 4);
}

TEST(FindingTest, UnstableFindingExplainsItsVictimsOnly) {
  RunReport report = report_of({Verdict::failed, Verdict::failed}, {Kind::unstable});
  EXPECT_EQ(exit_code(report), 1);
  report.findings[0].also = {"case1"};
  EXPECT_EQ(exit_code(report), 4);
}

TEST(FindingTest, NamesAreTheReports) {
  EXPECT_EQ(name(Kind::order_dependent), "order_dependent");
  EXPECT_EQ(name(Kind::error), "error");
  EXPECT_EQ(name(Kind::unconfirmed), "unconfirmed");
  EXPECT_EQ(name(Role::brittle), "brittle");
  EXPECT_EQ(name(Grade::confirmed), "confirmed");
  EXPECT_EQ(name(Grade::unnamed), "unnamed");
  EXPECT_EQ(name(Verdict::not_run), "not_run");
  EXPECT_EQ(name(Verdict::timed_out), "timed_out");
  EXPECT_EQ(name(Fingerprint::bits), "bits");
  EXPECT_EQ(name(Fingerprint::error), "error");
}

TEST(ChanceTest, OneOfTwentyIsNotToldFromChanceAndTwentyOfTwentyIs) {
  EXPECT_FALSE(told_from_chance({1, 20}, 20));
  EXPECT_TRUE(told_from_chance({20, 20}, 20));
  EXPECT_NEAR(chance_of_no_hit_alone({2, 2}, 2), 1.0 / 6, 1e-12);
}

TEST(ExitCodeTest, AWorkerErrorIsTheMostSerious) {
  RunReport report;
  report.cases.push_back({"a", Verdict::passed, 0, 1, 1, 1, ""});
  report.worker_error = "the worker ended badly";
  EXPECT_EQ(exit_code(report), 5);
  report.findings.emplace_back().kind = Kind::order_dependent;
  EXPECT_EQ(exit_code(report), 5);
}

TEST(ExitCodeTest, AnInterruptedRunIsNeverGreen) {
  RunReport report;
  report.cases.push_back({"a", Verdict::passed, 0, 1, 1, 1, ""});
  EXPECT_EQ(exit_code(report), 0);
  report.interrupted = true;
  EXPECT_EQ(exit_code(report), 5);
  report.cases[0].verdict = Verdict::failed;
  EXPECT_EQ(exit_code(report), 4) << "what was seen counts";
  report.findings.emplace_back().kind = Kind::unconfirmed;
  EXPECT_EQ(exit_code(report), 4);
  report.findings.emplace_back().kind = Kind::mismatch;
  EXPECT_EQ(exit_code(report), 1);
  report.findings.emplace_back().kind = Kind::order_dependent;
  EXPECT_EQ(exit_code(report), 3);
}

}  // namespace
}  // namespace parity
