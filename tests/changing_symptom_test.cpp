// One leak that shows in several ways: its rate counts them all, and shrinking follows one of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/investigate.hpp"
#include "simulated_worker.hpp"

namespace parity {
namespace {

TEST(ChangingSymptomTest, EveryDivergenceOfTheVictimCountsInTheRate) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimulatedSuite suite(12);
    const Finding finding = only_finding(
        [=](const SimulatedRun& run) {
          if (run.case_index != 7 || !has(run.before, 3)) return Answer::right;
          return by_chance(0.5, run.execution, seed) ? Answer::unwritten : Answer::wrong;
        },
        suite);
    EXPECT_EQ(finding.kind, Kind::order_dependent);
    EXPECT_EQ(finding.sequence, ids(suite, {3, 7}));
    EXPECT_EQ(finding.reproduced, (Rate{5, 5})) << seed;
    const bool unwritten = finding.detail.find("unwritten") != std::string::npos;
    EXPECT_EQ(finding.fingerprint == Fingerprint::unwritten, unwritten) << finding.detail;
  }
}

/// One run of each case alone, one in the order, which shows both faults.
std::vector<Sequence> order_and_alone(const Order& order) {
  std::vector<Sequence> plan = {Sequence::of(order)};
  for (const std::size_t c : order) plan.push_back(Sequence::of(Order{c}));
  return plan;
}

TEST(ChangingSymptomTest, ShrinkingDoesNotSlipToAnotherFault) {
  SimulatedSuite suite(12);
  SimulatedWorker worker(suite, [](const SimulatedRun& run) {
    if (run.case_index != 7) return Answer::right;
    if (has(run.before, 3)) return Answer::unwritten;
    return has(run.before, 9) ? Answer::wrong : Answer::right;
  });
  const Investigation investigation =
      investigate_plan(suite, worker, order_and_alone({3, 0, 1, 2, 9, 7}));
  ASSERT_EQ(investigation.findings.size(), 1u);
  const Finding& finding = investigation.findings.front();
  EXPECT_EQ(finding.fingerprint, Fingerprint::unwritten);
  EXPECT_EQ(finding.sequence, ids(suite, {3, 7}));
  EXPECT_EQ(finding.reproduced, (Rate{5, 5}));
}

TEST(ChangingSymptomTest, TheRateIsThatOfTheSequenceNotOfAnotherPolluter) {
  std::size_t told = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SimulatedSuite suite(12);
    SimulatedWorker worker(suite, [=](const SimulatedRun& run) {
      if (run.case_index != 7) return Answer::right;
      if (has(run.before, 3) && (run.execution < 7 || by_chance(0.5, run.execution, seed)))
        return Answer::unwritten;
      return has(run.before, 9) ? Answer::wrong : Answer::right;
    });
    const Investigation investigation =
        investigate_plan(suite, worker, order_and_alone({9, 0, 1, 2, 3, 7}));
    for (const Finding& finding : investigation.findings) {
      if (finding.kind != Kind::order_dependent) continue;
      ++told;
      EXPECT_EQ(finding.sequence, ids(suite, {3, 7}));
      EXPECT_EQ(finding.fingerprint, Fingerprint::unwritten);
      EXPECT_LT(finding.reproduced.hits, finding.reproduced.runs);
    }
  }
  EXPECT_GE(told, 8u);
}

TEST(ChangingSymptomTest, AVictimThatFailsAnotherWayAloneIsNotChargedToTheOrder) {
  std::size_t unstable = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SimulatedSuite suite(12);
    SimulatedWorker worker(suite, [=](const SimulatedRun& run) {
      if (run.case_index != 7 || run.execution < 6 + 6 + 5) {
        return run.case_index == 7 && has(run.before, 3) ? Answer::unwritten : Answer::right;
      }
      return by_chance(0.5, run.execution, seed) ? Answer::wrong : Answer::right;
    });
    for (const Finding& finding :
         investigate_plan(suite, worker, order_and_alone({9, 0, 1, 2, 3, 7})).findings)
      unstable += finding.kind == Kind::unstable ? 1 : 0;
  }
  EXPECT_EQ(unstable, 10u);
}

}  // namespace
}  // namespace parity
