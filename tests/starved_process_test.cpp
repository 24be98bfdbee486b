// Processes that end by the machine's doing (starved, out of memory, killed) accuse no order.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/investigate.hpp"
#include "harness/replay.hpp"
#include "simulated_worker.hpp"

namespace parity {
namespace {

constexpr std::array kOfTheMachine = {Answer::hang, Answer::crash, Answer::refused};

bool accuses_order(const Investigation& investigation) {
  return std::ranges::any_of(investigation.findings, [](const Finding& finding) {
    return finding.kind == Kind::order_dependent;
  });
}

/// Eight cases in one order, each alone too.
std::vector<Sequence> order_and_alone() {
  std::vector<Sequence> plan = {Sequence::of(Order{0, 1, 2, 3, 4, 5, 6, 7})};
  for (std::size_t c = 0; c < 8; ++c) plan.push_back(Sequence::of(Order{c}));
  return plan;
}
constexpr std::size_t kPlanRuns = 16;

TEST(StarvedProcessTest, OneStarvedProcessAnywhereInThePlanAccusesNoOrder) {
  for (const Answer answer : kOfTheMachine)
    for (const std::size_t threads : {1, 2})
      for (std::size_t starved = 0; starved < kPlanRuns; ++starved) {
        SimulatedSuite suite(8);
        SimulatedWorker worker(suite, [=](const SimulatedRun& run) {
          return run.execution == starved ? answer : Answer::right;
        });
        worker.host_threads = threads;
        std::vector<Sequence> plan = order_and_alone();
        plan.front().threads = threads;
        const Investigation investigation = investigate_plan(suite, worker, plan);
        EXPECT_FALSE(accuses_order(investigation)) << starved << " of " << threads << " threads";
        EXPECT_FALSE(investigation.findings.empty());
      }
}

/// Case 6 is struck in the order, then whatever runs from the `from`th execution after the plan on,
/// `runs` times.
Leak starved_for_a_while(std::size_t from, std::size_t runs, Answer answer) {
  return [=](const SimulatedRun& run) {
    const bool in_plan = run.execution == 6;
    const bool later = run.execution >= kPlanRuns + from && run.execution < kPlanRuns + from + runs;
    return run.case_index == 6 && (in_plan || later) ? answer : Answer::right;
  };
}

TEST(StarvedProcessTest, AMachineThatIsStarvedForAWhileAccusesNoOrder) {
  for (const Answer answer : kOfTheMachine)
    for (std::size_t from = 0; from < 30; ++from)
      for (const std::size_t runs : {3, 6, 10, 16, 24, 40, 60}) {
        SimulatedSuite suite(8);
        SimulatedWorker worker(suite, starved_for_a_while(from, runs, answer));
        EXPECT_FALSE(accuses_order(investigate_plan(suite, worker, order_and_alone())))
            << runs << " runs from " << from;
      }
}

TEST(StarvedProcessTest, WhereTheOrderNeverReachesTheVictimAgainNothingIsConfirmed) {
  SimulatedSuite suite(8);
  SimulatedWorker worker(suite, [wrong = 0](const SimulatedRun& run) mutable {
    if (run.case_index == 6 && !run.before.empty())
      return wrong++ < 2 ? Answer::wrong : Answer::right;
    return run.case_index != 6 && wrong == 2 ? Answer::crash : Answer::right;
  });
  const Investigation investigation = investigate_plan(suite, worker, order_and_alone());
  EXPECT_FALSE(investigation.findings.empty());
  EXPECT_FALSE(accuses_order(investigation));
}

/// Case 6 takes `alone` times the deadline; after or with others, `after` times that of each in its
/// group.
Leak slow(double alone, double after) {
  return [=](const SimulatedRun& run) {
    const auto group = static_cast<double>(run.company.size() + 1);
    const bool with_others = !run.before.empty() || group > 1;
    const double takes = with_others ? after * group : alone;
    return run.case_index == 6 && takes > static_cast<double>(run.limit) ? Answer::hang
                                                                         : Answer::right;
  };
}

TEST(StarvedProcessTest, BeingALittleSlowerThanTheLimitAccusesNoOrder) {
  for (const std::size_t threads : {1, 4})
    for (const auto& [alone, after] : {std::pair{0.9, 1.5}, {1.5, 0.9}, {1.5, 1.5}}) {
      SimulatedSuite suite(8);
      SimulatedWorker worker(suite, slow(alone, after));
      worker.host_threads = threads;
      std::vector<Sequence> plan = order_and_alone();
      plan.front().threads = threads;
      EXPECT_FALSE(accuses_order(investigate_plan(suite, worker, plan)))
          << alone << " alone, " << after << " after others, " << threads << " threads";
      for (const std::size_t repeat : {1, 4, 10}) {
        Judge judge = suite.judge();
        const Replay again = replay(suite.cases(), {0, 1, 2, 6}, repeat, judge, worker, "H", "");
        EXPECT_TRUE(!again.finding || again.finding->kind != Kind::order_dependent)
            << repeat << " runs, " << alone << " alone, " << after << " after others, " << threads
            << " threads";
      }
    }
}

TEST(StarvedProcessTest, AReplaySaysThatTwiceTheLimitIsEnough) {
  SimulatedSuite suite(8);
  SimulatedWorker worker(suite, slow(0.9, 1.5));
  Judge judge = suite.judge();
  const Replay again = replay(suite.cases(), {0, 6}, 1, judge, worker, "H", "");
  ASSERT_TRUE(again.finding);
  EXPECT_EQ(again.finding->kind, Kind::unstable);
  EXPECT_EQ(again.finding->detail, "no answer; within twice that it ends");
  EXPECT_EQ(again.in_sequence, (Rate{7, 7}));
}

TEST(StarvedProcessTest, BeingALotSlowerIsTold) {
  for (const std::size_t threads : {1, 4}) {
    SimulatedSuite suite(8);
    SimulatedWorker worker(suite, slow(0.9, 100));
    worker.host_threads = threads;
    Judge judge = suite.judge();
    const Replay again = replay(suite.cases(), {0, 1, 2, 6}, 1, judge, worker, "H", "");
    ASSERT_TRUE(again.finding);
    EXPECT_EQ(again.finding->kind, Kind::order_dependent);
    EXPECT_EQ(again.finding->fingerprint, Fingerprint::timeout);
    EXPECT_EQ(again.in_sequence, (Rate{7, 7}));
    EXPECT_EQ(again.alone, (Rate{0, 7}));
  }
}

/// Case 1 ends its process in a share `p` of all runs, and whoever runs beside it goes down with
/// it.
Leak ends_processes(double p, Answer answer, std::uint64_t seed) {
  return [=](const SimulatedRun& run) {
    return run.case_index == 1 && by_chance(p, run.execution, seed) ? answer : Answer::right;
  };
}

TEST(StarvedProcessTest, GoingDownWithOneThatEndsProcessesAloneAccusesNoOrder) {
  for (const Answer answer : {Answer::hang, Answer::crash})
    for (const double p : {0.1, 0.3, 0.7, 1.0})
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        SimulatedSuite suite(8);
        SimulatedWorker worker(suite, ends_processes(p, answer, seed));
        worker.host_threads = 2;
        std::vector<Sequence> plan = order_and_alone();
        plan.front() = Sequence::of(Order{2, 3, 4, 5, 1, 6}, 0, 2);
        EXPECT_FALSE(accuses_order(investigate_plan(suite, worker, plan))) << p << ' ' << seed;
        Judge judge = suite.judge();
        const Replay again = replay(suite.cases(), {1, 6}, 4, judge, worker, "H", "");
        EXPECT_TRUE(!again.finding || again.finding->kind != Kind::order_dependent)
            << p << ' ' << seed;
      }
}

TEST(StarvedProcessTest, AReplayNamesTheOneThatEndsProcessesAlone) {
  SimulatedSuite suite(8);
  SimulatedWorker worker(suite, ends_processes(1, Answer::crash, 0));
  worker.host_threads = 2;
  Judge judge = suite.judge();
  const Replay again = replay(suite.cases(), {1, 6}, 1, judge, worker, "H", "");
  ASSERT_TRUE(again.finding);
  EXPECT_EQ(again.finding->kind, Kind::crash);
  EXPECT_EQ(again.finding->victim, suite.id(1));
  EXPECT_EQ(again.finding->sequence, ids(suite, {1}));
  EXPECT_EQ(again.finding->alone, (Rate{7, 7}));
  EXPECT_EQ(again.in_sequence, (Rate{7, 7}));
  EXPECT_EQ(again.alone, (Rate{0, 7}));
}

TEST(StarvedProcessTest, ALeakThatEndsTheProcessIsToldByRunsInTurn) {
  for (const Answer answer : kOfTheMachine) {
    SimulatedSuite suite(12);
    const Finding finding =
        only_finding(leak(6, answer, [](const Order& before) { return has(before, 1); }), suite);
    EXPECT_EQ(finding.kind, Kind::order_dependent);
    EXPECT_EQ(finding.sequence, ids(suite, {1, 6}));
    EXPECT_EQ(finding.reproduced, (Rate{7, 7}));
    EXPECT_EQ(finding.alone, (Rate{0, 13}));
  }
}

TEST(StarvedProcessTest, ALeakThatEndsSomeProcessesIsToldByRunsInTurn) {
  std::size_t told = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SimulatedSuite suite(12);
    const Finding finding = only_finding(
        [=](const SimulatedRun& run) {
          return run.case_index == 6 && has(run.before, 1) && by_chance(0.5, run.execution, seed)
                     ? Answer::crash
                     : Answer::right;
        },
        suite);
    told += finding.kind == Kind::order_dependent ? 1 : 0;
  }
  EXPECT_GE(told, 9u);
}

}  // namespace
}  // namespace parity
