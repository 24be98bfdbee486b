#include "harness/replay.hpp"

#include <gtest/gtest.h>

#include "simulated_worker.hpp"

namespace parity {
namespace {

constexpr std::size_t kRepeat = 20;

/// The last of `order` after the others, and alone, with this leak.
Replay replayed(const Order& order, Leak leak, bool weak_keys = false) {
  SimulatedSuite suite(12);
  SimulatedWorker worker(suite, std::move(leak));
  worker.weak_keys = weak_keys;
  Judge judge = suite.judge();
  return replay(suite.cases(), order, kRepeat, judge, worker, "harness", "");
}

Leak always(Answer answer) {
  return [=](const SimulatedRun&) { return answer; };
}

Leak after_any(std::size_t victim, Answer answer) {
  return [=](const SimulatedRun& run) {
    return run.case_index == victim && !run.before.empty() ? answer : Answer::right;
  };
}

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

}  // namespace
}  // namespace parity
