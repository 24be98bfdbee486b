#include "harness/replay.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "simulated_worker.hpp"

namespace parity {
namespace {

constexpr std::size_t kRepeat = 20;

/// The last of `order` after the others, and alone, with this leak.
Replay replayed(const Order& order, Leak leak, bool weak_keys = false,
                std::size_t repeat = kRepeat) {
  SimulatedSuite suite(12);
  SimulatedWorker worker(suite, std::move(leak));
  worker.weak_keys = weak_keys;
  Judge judge = suite.judge();
  return replay(suite.cases(), order, repeat, judge, worker, "harness", "");
}

Leak always(Answer answer) {
  return [=](const SimulatedRun&) { return answer; };
}

Leak after_any(std::size_t victim, Answer answer) {
  return [=](const SimulatedRun& run) {
    return run.case_index == victim && !run.before.empty() ? answer : Answer::right;
  };
}

Replay replayed_once(Leak leak) {
  return replayed({1, 2}, std::move(leak), false, 1);
}

/// What a starved or killed process shows, whatever it was to run.
constexpr std::array kOfTheMachine = {Answer::hang, Answer::crash, Answer::refused};

TEST(ReplayTest, AWellSequenceHasNoFindingAndBothCountsAreZero) {
  const Replay done = replayed({1, 2}, always(Answer::right));
  EXPECT_FALSE(done.finding);
  EXPECT_EQ(done.in_sequence, (Rate{0, kRepeat}));
  EXPECT_EQ(done.alone, (Rate{0, kRepeat}));
}

TEST(ReplayTest, ALeakIsCountedInTheSequenceAndNotAlone) {
  const Replay done = replayed({1, 2}, after_any(2, Answer::wrong));
  ASSERT_TRUE(done.finding);
  EXPECT_EQ(done.finding->kind, Kind::order_dependent);
  EXPECT_EQ(done.finding->fingerprint, Fingerprint::mismatch);
  EXPECT_EQ(done.finding->reproduced, (Rate{kRepeat, kRepeat}));
  EXPECT_EQ(done.finding->alone, (Rate{0, kRepeat}));
}

TEST(ReplayTest, DriftInsideTheToleranceIsFoundByBitsAndSaysWhere) {
  const Replay done = replayed({1, 2}, after_any(2, Answer::drifted));
  ASSERT_TRUE(done.finding);
  EXPECT_EQ(done.finding->fingerprint, Fingerprint::bits);
  EXPECT_NE(done.finding->detail.find(" here, "), std::string::npos) << done.finding->detail;
}

TEST(ReplayTest, TheWeakKeyIsNamedAndConfirmed) {
  const Replay done = replayed({0, 1}, always(Answer::right), true);
  ASSERT_TRUE(done.finding);
  EXPECT_EQ(done.finding->carrier, "module_cache");
  EXPECT_EQ(done.finding->grade, Grade::confirmed);
}

TEST(ReplayTest, WhatAlsoFailsAloneIsNotCalledOrderDependent) {
  const Replay done = replayed({1, 2}, always(Answer::wrong));
  ASSERT_TRUE(done.finding);
  EXPECT_EQ(done.finding->kind, Kind::mismatch);
  EXPECT_EQ(done.alone, (Rate{kRepeat, kRepeat}));
}

TEST(ReplayTest, ChanceIsUnstable) {
  const Replay done = replayed({2}, [](const SimulatedRun& run) {
    return by_chance(0.5, run.execution) ? Answer::wrong : Answer::right;
  });
  ASSERT_TRUE(done.finding);
  EXPECT_EQ(done.finding->kind, Kind::unstable);
}

TEST(ReplayTest, ABrittleCaseIsWellOnlyAfterItsSetter) {
  const Replay done = replayed({1, 2}, [](const SimulatedRun& run) {
    return run.case_index == 2 && run.before.empty() ? Answer::wrong : Answer::right;
  });
  ASSERT_TRUE(done.finding);
  EXPECT_EQ(done.finding->kind, Kind::order_dependent);
  EXPECT_EQ(done.finding->role, Role::brittle);
}

TEST(ReplayTest, OneRunOfEachIsEnoughForAWrongAnswer) {
  const Replay done = replayed_once(after_any(2, Answer::wrong));
  ASSERT_TRUE(done.finding);
  EXPECT_EQ(done.finding->kind, Kind::order_dependent);
  EXPECT_EQ(done.in_sequence, (Rate{1, 1}));
  EXPECT_EQ(done.alone, (Rate{0, 1}));
}

TEST(ReplayTest, AProcessThatWasStarvedOnceAloneAccusesNoOrder) {
  for (const Answer answer : kOfTheMachine) {
    bool starved = false;
    const Replay done = replayed_once([=](const SimulatedRun& run) mutable {
      if (run.case_index != 2 || !run.before.empty() || std::exchange(starved, true))
        return Answer::right;
      return answer;
    });
    ASSERT_TRUE(done.finding);
    EXPECT_EQ(done.finding->kind, Kind::unstable);
    EXPECT_EQ(done.in_sequence, (Rate{0, 7}));
    EXPECT_EQ(done.alone, (Rate{1, 7}));
  }
}

TEST(ReplayTest, AProcessThatWasStarvedOnceInTheSequenceAccusesNoOrder) {
  for (const Answer answer : kOfTheMachine) {
    bool starved = false;
    const Replay done = replayed_once([=](const SimulatedRun& run) mutable {
      if (run.before.empty() || std::exchange(starved, true)) return Answer::right;
      return answer;
    });
    ASSERT_TRUE(done.finding);
    EXPECT_EQ(done.finding->kind, Kind::unstable);
    EXPECT_EQ(done.in_sequence, (Rate{1, 7}));
    EXPECT_EQ(done.alone, (Rate{0, 7}));
  }
}

TEST(ReplayTest, ALeakThatEndsTheProcessIsStillFoundByOneRunAndTriedAgain) {
  for (const Answer answer : kOfTheMachine) {
    const Replay done = replayed_once(after_any(2, answer));
    ASSERT_TRUE(done.finding);
    EXPECT_EQ(done.finding->kind, Kind::order_dependent);
    EXPECT_EQ(done.in_sequence, (Rate{7, 7}));
    EXPECT_EQ(done.alone, (Rate{0, 7}));
  }
}

TEST(ReplayTest, ACaseThatAlwaysEndsItsProcessAloneOnlyIsBrittle) {
  for (const Answer answer : kOfTheMachine) {
    const Replay done = replayed_once([=](const SimulatedRun& run) {
      return run.case_index == 2 && run.before.empty() ? answer : Answer::right;
    });
    ASSERT_TRUE(done.finding);
    EXPECT_EQ(done.finding->kind, Kind::order_dependent);
    EXPECT_EQ(done.finding->role, Role::brittle);
    EXPECT_EQ(done.in_sequence, (Rate{0, 7}));
    EXPECT_EQ(done.alone, (Rate{7, 7}));
  }
}

TEST(ReplayTest, AMachineThatIsStarvedForAWhileMeetsSequenceAndAloneAlike) {
  for (std::size_t repeat : {1, 2, 5, 8}) {
    const Replay done = replayed(
        {1, 2},
        [=](const SimulatedRun& run) {
          return run.case_index == 2 && run.execution < 2 * repeat ? Answer::hang : Answer::right;
        },
        false, repeat);
    ASSERT_TRUE(done.finding);
    EXPECT_NE(done.finding->kind, Kind::order_dependent) << repeat;
  }
}

TEST(ReplayTest, ALeakInThreeOfTenProcessesIsOrderDependentAsInTheRun) {
  std::size_t otherwise = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Replay done = replayed({1, 2}, [=](const SimulatedRun& run) {
      return run.case_index == 2 && !run.before.empty() && by_chance(0.3, run.execution, seed)
                 ? Answer::wrong
                 : Answer::right;
    });
    EXPECT_EQ(done.alone.hits, 0u);
    otherwise += done.finding && done.finding->kind == Kind::order_dependent ? 0 : 1;
  }
  EXPECT_LE(otherwise, 4u);  // two in a thousand
}

TEST(ReplayTest, ALeakThatStaysAwayNowAndThenIsNotTakenForHealed) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Replay done = replayed({1, 2}, [=](const SimulatedRun& run) {
      return run.case_index == 2 && !run.before.empty() && by_chance(0.3, run.execution, seed)
                 ? Answer::wrong
                 : Answer::right;
    });
    if (done.finding) {
      EXPECT_EQ(done.finding->carrier, "") << seed;
    }
  }
}

TEST(ReplayTest, ChanceIsNotCalledOrderHoweverManyRunsAreAdded) {
  for (double p : {0.05, 0.1, 0.3, 0.5, 0.9})
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const Replay done = replayed({1, 2}, [=](const SimulatedRun& run) {
        return run.case_index == 2 && by_chance(p, run.execution, seed) ? Answer::wrong
                                                                        : Answer::right;
      });
      const bool accused = done.finding && done.finding->kind == Kind::order_dependent;
      EXPECT_FALSE(accused) << p << " " << seed;
    }
}

TEST(ReplayTest, WhatWasSeenOnceAndNotAgainIsNotPursued) {
  bool seen = false;
  const Replay done = replayed({1, 2}, [=](const SimulatedRun& run) mutable {
    return !run.before.empty() && !std::exchange(seen, true) ? Answer::wrong : Answer::right;
  });
  ASSERT_TRUE(done.finding);
  EXPECT_EQ(done.finding->kind, Kind::unstable);
  EXPECT_EQ(done.in_sequence, (Rate{1, kRepeat + 6}));
  EXPECT_EQ(done.alone, (Rate{0, kRepeat + 6}));
}

}  // namespace
}  // namespace parity
