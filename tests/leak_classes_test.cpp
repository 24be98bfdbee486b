// Every way in which state can stick, and chance, which is none: found with the exact sequence.
#include "harness/investigate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "simulated_worker.hpp"

namespace parity {
namespace {

TEST(LeakClassTest, AStickyLeakOutsideAllCellsIsFoundAndNotNamed) {
  SimulatedSuite suite(12);
  SimulatedWorker worker(
      suite, leak(7, Answer::wrong, [](const Order& before) { return has(before, 3); }));
  const Investigation investigation = investigate_tuscan(suite, worker);
  ASSERT_EQ(investigation.findings.size(), 1u);
  const Finding& finding = investigation.findings.front();
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.sequence, ids(suite, {3, 7}));
  EXPECT_EQ(finding.grade, Grade::unnamed);
  EXPECT_EQ(finding.carrier, "");
  EXPECT_EQ(finding.exposed, std::vector<std::string>{"parity::simulated(q=f32,k=bf16,v=f16)"});
  // 5 alone, 4 to shrink (two suspects fit), 10 to confirm, 3 that refute the module cache.
  EXPECT_EQ(worker.executions(), 22u);
  EXPECT_EQ(investigation.cases[7].verdict, Verdict::failed);
  EXPECT_EQ(investigation.cases[6].verdict, Verdict::passed);
}

TEST(LeakClassTest, ALastWriterLeakIsFoundExactly) {
  SimulatedSuite suite(12);
  const Finding finding =
      only_finding(leak(7, Answer::wrong,
                        [](const Order& before) { return !before.empty() && before.back() == 3; }),
                   suite);
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.sequence, ids(suite, {3, 7}));
}

TEST(LeakClassTest, AnUnprobedFirstWinsLeakIsFoundExactly) {
  SimulatedSuite suite(12);
  const auto of_cell = [](std::size_t c) { return c == 3 || c == 7 || c == 9; };
  const Finding finding =
      only_finding(leak(7, Answer::wrong,
                        [=](const Order& before) {
                          const auto first = std::find_if(before.begin(), before.end(), of_cell);
                          return first != before.end() && *first == 3;
                        }),
                   suite);
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.sequence, ids(suite, {3, 7}));
}

TEST(LeakClassTest, ACounterNeedsAsManyRuns) {
  SimulatedSuite suite(12);
  const Finding finding = only_finding(
      leak(7, Answer::wrong, [](const Order& before) { return before.size() >= 4; }), suite);
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.sequence.size(), 5u);
  EXPECT_EQ(finding.reproduced, (Rate{5, 5}));
}

TEST(LeakClassTest, DriftInsideTheToleranceIsFoundByBitsAlone) {
  SimulatedSuite suite(12);
  const auto reads_f16 = [](std::size_t c) { return c % 3 == 1; };
  SimulatedWorker worker(suite, [=](const SimulatedRun& run) {
    const bool drifts = std::any_of(run.before.begin(), run.before.end(), reads_f16);
    return drifts && !reads_f16(run.case_index) ? Answer::drifted : Answer::right;
  });
  const Investigation investigation = investigate_tuscan(suite, worker);
  ASSERT_EQ(investigation.findings.size(), 1u);
  const Finding& finding = investigation.findings.front();
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.fingerprint, Fingerprint::bits);
  EXPECT_LE(finding.error, finding.tolerance);
  ASSERT_EQ(finding.sequence.size(), 2u);
  EXPECT_EQ(finding.also.size(), 7u);
  for (std::size_t c = 0; c < 12; ++c) {
    EXPECT_EQ(investigation.cases[c].verdict, Verdict::passed);
    EXPECT_EQ(investigation.cases[c].distinct_bits, reads_f16(c) ? 1u : 2u);
  }
  // The nearest polluter: one dtype apart.
  const auto index_of = [&](const std::string& id) {
    std::size_t c = 0;
    while (suite.id(c) != id) ++c;
    return c;
  };
  const std::size_t polluter = index_of(finding.sequence[0]);
  EXPECT_TRUE(reads_f16(polluter));
  EXPECT_EQ(distance(suite.cases()[polluter], suite.cases()[index_of(finding.victim)]), 1);
}

TEST(LeakClassTest, ABrittleCaseIsShrunkToItsStateSetter) {
  SimulatedSuite suite(12);
  const Finding finding = only_finding(
      leak(4, Answer::wrong, [](const Order& before) { return !has(before, 2); }), suite);
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.role, Role::brittle);
  EXPECT_EQ(finding.fingerprint, Fingerprint::mismatch);
  EXPECT_EQ(finding.sequence, ids(suite, {2, 4}));
  EXPECT_EQ(finding.alone, (Rate{26, 26}));  // twenty more, lest chance was taken for order
  EXPECT_EQ(finding.reproduced, (Rate{5, 5}));
}

TEST(LeakClassTest, ACaseThatPollutesItselfIsItsOwnSequence) {
  SimulatedSuite suite(12);
  const Finding finding = only_finding(
      leak(5, Answer::drifted, [](const Order& before) { return has(before, 5); }), suite);
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.fingerprint, Fingerprint::bits);
  EXPECT_EQ(finding.sequence, ids(suite, {5, 5}));
}

TEST(LeakClassTest, TwoRequiredPollutersAreBothInTheSequence) {
  SimulatedSuite suite(12);
  const Finding finding = only_finding(
      leak(6, Answer::wrong, [](const Order& before) { return has(before, 1) && has(before, 8); }),
      suite);
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  ASSERT_EQ(finding.sequence.size(), 3u);
  std::vector<std::string> polluters(finding.sequence.begin(), finding.sequence.end() - 1);
  std::sort(polluters.begin(), polluters.end());
  std::vector<std::string> wanted = ids(suite, {1, 8});
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(polluters, wanted);
  EXPECT_EQ(finding.sequence.back(), suite.id(6));
}

TEST(LeakClassTest, ACleanerDoesNotHideThePolluter) {
  SimulatedSuite suite(12);
  const Finding finding = only_finding(leak(6, Answer::wrong,
                                            [](const Order& before) {
                                              const auto last = std::find_if(
                                                  before.rbegin(), before.rend(),
                                                  [](std::size_t c) { return c == 1 || c == 9; });
                                              return last != before.rend() && *last == 1;
                                            }),
                                       suite);
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.sequence, ids(suite, {1, 6}));
}

TEST(LeakClassTest, ACrashAfterAPolluterIsOrderDependent) {
  SimulatedSuite suite(12);
  const Finding finding = only_finding(
      leak(6, Answer::crash, [](const Order& before) { return has(before, 1); }), suite);
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.fingerprint, Fingerprint::crash);
  EXPECT_EQ(finding.sequence, ids(suite, {1, 6}));
}

TEST(LeakClassTest, AnotherPlanForTheSameCaseIsAFindingOfItsOwn) {
  SimulatedSuite suite(12);
  const Finding finding = only_finding(
      leak(6, Answer::other_plan, [](const Order& before) { return has(before, 1); }), suite);
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.fingerprint, Fingerprint::plan);
  EXPECT_EQ(finding.detail, "plan 'threads=256' here, 'threads=128' alone");
}

TEST(LeakClassTest, APlanThatTimingChoseIsNobodysFault) {
  SimulatedSuite suite(12);
  SimulatedWorker worker(
      suite, leak(6, Answer::timed_plan, [](const Order& before) { return has(before, 1); }));
  EXPECT_TRUE(investigate_tuscan(suite, worker).findings.empty());
}

TEST(LeakClassTest, ChanceIsNeverCalledOrder) {
  std::size_t unstable = 0;
  for (double p : {0.1, 0.3, 0.5, 0.9}) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      SimulatedSuite suite(12);
      SimulatedWorker worker(suite, [=](const SimulatedRun& run) {
        return run.case_index == 5 && by_chance(p, run.execution, seed) ? Answer::wrong
                                                                        : Answer::right;
      });
      for (const Finding& finding : investigate_tuscan(suite, worker).findings) {
        unstable += finding.kind == Kind::unstable ? 1 : 0;
        EXPECT_NE(finding.kind, Kind::order_dependent) << "p " << p << " seed " << seed;
        EXPECT_EQ(finding.victim, suite.id(5));
      }
    }
  }
  EXPECT_GE(unstable, 36u);  // of 48: at 0.9 some are wrong in every run
}

TEST(LeakClassTest, ALeakThatShowsHalfOfTheTimeKeepsItsRate) {
  std::size_t exact = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SimulatedSuite suite(12);
    SimulatedWorker worker(suite, [=](const SimulatedRun& run) {
      return run.case_index == 7 && has(run.before, 3) && by_chance(0.5, run.execution, seed)
                 ? Answer::wrong
                 : Answer::right;
    });
    const Investigation investigation = investigate_tuscan(suite, worker);
    ASSERT_EQ(investigation.findings.size(), 1u);
    const Finding& finding = investigation.findings.front();
    EXPECT_EQ(finding.alone.hits, 0u);
    if (finding.kind != Kind::order_dependent) continue;
    exact += finding.sequence == ids(suite, {3, 7}) ? 1 : 0;
    EXPECT_GE(finding.alone.runs, 5u);
  }
  EXPECT_GE(exact, 8u);
}

}  // namespace
}  // namespace parity
