// The stages of a run: plan, suspect pairs, random orders while the budget lasts.
#include "harness/schedule.hpp"

#include <gtest/gtest.h>

#include <set>

#include "simulated_worker.hpp"

namespace parity {
namespace {

Answer never(const SimulatedRun&) {
  return Answer::right;
}

Order order_of(const Sequence& sequence) {
  Order order;
  for (const Step& step : sequence.steps) order.push_back(step.case_index);
  return order;
}

class ScheduleTest : public testing::Test {
 protected:
  ScheduleRun run(const OrdersChoice& choice, std::function<bool()> lasts = {}) {
    const Plan plan = make_plan(suite_.cases(), Permute::order, choice, 0);
    return run_schedule(suite_.cases(), plan, {Permute::order, 0, std::move(lasts)}, worker_);
  }
  /// A budget that is asked so often before it ends.
  static std::function<bool()> asked(std::size_t times) {
    return [times]() mutable { return times > 0 && times-- > 0; };
  }
  SimulatedSuite suite_{6};
  SimulatedWorker worker_{suite_, never};
};

TEST_F(ScheduleTest, ACompletePlanLeavesNothingToSuspect) {
  worker_.weak_keys = true;
  const ScheduleRun done = run({});
  EXPECT_EQ(done.run.sequences.size(), 6u);
  EXPECT_EQ(done.ledger.adjacent(), (PairCount{30, 30, 30}));
  EXPECT_TRUE(done.whole);
}

TEST_F(ScheduleTest, RandomOrdersLeaveOutPairsThatTheProbesSuspect) {
  worker_.weak_keys = true;  // all six share one cell, each for its own dtypes
  const ScheduleRun done = run({false, 1});
  ASSERT_GT(done.run.sequences.size(), 1u);
  // The first of the random order wrote the cell; who did not follow it at once comes alone after
  // it.
  const Order random = order_of(done.run.sequences[0]);
  std::set<Order> pairs;
  for (std::size_t i = 1; i < done.run.sequences.size(); ++i)
    pairs.insert(order_of(done.run.sequences[i]));
  std::set<Order> expected;
  for (std::size_t i = 2; i < random.size(); ++i) expected.insert({random[0], random[i]});
  EXPECT_EQ(pairs, expected);
  EXPECT_EQ(done.ledger.adjacent().exercised, 5u + 4u);
  EXPECT_EQ(done.ledger.adjacent().planned, 5u + 4u);
}

TEST_F(ScheduleTest, TypedKeysSuspectNobody) {
  EXPECT_EQ(run({false, 1}).run.sequences.size(), 1u);
}

TEST_F(ScheduleTest, RandomOrdersFillTheBudgetAndOnlyThat) {
  const ScheduleRun filled = run({}, asked(2));
  EXPECT_EQ(filled.run.sequences.size(), 6u + 2 * 8u);
  EXPECT_TRUE(filled.whole);
  EXPECT_EQ(filled.random_batches, 2u);
  EXPECT_TRUE(filled.out_of_time);
  EXPECT_FALSE(run({}).out_of_time) << "there was no budget";
  std::set<Order> different;
  for (std::size_t i = 6; i < filled.run.sequences.size(); ++i)
    different.insert(order_of(filled.run.sequences[i]));
  EXPECT_GT(different.size(), 12u) << "batches do not repeat each other";
  const ScheduleRun again = run({}, asked(2));
  for (std::size_t i = 0; i < filled.run.sequences.size(); ++i)
    EXPECT_EQ(order_of(again.run.sequences[i]), order_of(filled.run.sequences[i]));
}

/// Answers at once, and keeps nothing.
class QuickWorker final : public Executor {
 public:
  std::vector<SequenceResult> execute(std::span<const Sequence> sequences) override {
    std::vector<SequenceResult> results(sequences.size());
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      results[i].outcomes.resize(sequences[i].steps.size());
      for (Outcome& outcome : results[i].outcomes) outcome.status = Status::ok;
    }
    return results;
  }
  const CarrierAbilities& abilities() override { return none_; }

 private:
  CarrierAbilities none_;
};

TEST_F(ScheduleTest, WhatIsPlannedUpToTheMostRandomRunsIsRun) {
  const SimulatedSuite many(800);  // so many that the last batch plans pairs that none did before
  QuickWorker quick;
  const Plan plan = make_plan(many.cases(), Permute::order, {false, 1}, 0);
  const ScheduleRun done =
      run_schedule(many.cases(), plan, {Permute::order, 0, [] { return true; }}, quick);
  EXPECT_GT(done.run.sequences.size(), 300u);
  EXPECT_EQ(done.ledger.adjacent().planned, done.ledger.adjacent().exercised);
  EXPECT_LT(done.ledger.adjacent().exercised, done.ledger.adjacent().possible);
}

TEST_F(ScheduleTest, AStoppedPlanIsNotWhole) {
  worker_.stop();
  const ScheduleRun done = run({}, [] { return true; });
  EXPECT_FALSE(done.whole);
  EXPECT_EQ(done.run.sequences.size(), 6u) << "no later stage";
  EXPECT_EQ(done.ledger.adjacent(), (PairCount{30, 30, 0}));
}

TEST_F(ScheduleTest, CasesThatCrashAloneAreLeftOutOfLaterStages) {
  SimulatedWorker crashing(suite_, leak(2, Answer::crash, [](const Order&) { return true; }));
  const Plan plan = make_plan(suite_.cases(), Permute::order, {}, 0);
  const ScheduleRun done =
      run_schedule(suite_.cases(), plan, {Permute::order, 0, asked(1)}, crashing);
  EXPECT_EQ(done.run.quarantined, (std::vector<std::size_t>{2}));
  ASSERT_GT(done.run.sequences.size(), 8u);
  for (std::size_t i = done.run.sequences.size() - 8; i < done.run.sequences.size(); ++i)
    EXPECT_FALSE(has(order_of(done.run.sequences[i]), 2));
}

TEST(SuspectPairsTest, TheOneThatUsesAnothersCellForSomethingElseComesFirst) {
  const SimulatedSuite suite(4);
  const auto seen = [](const std::string& cell, bool wrote, const std::string& used_for) {
    return CellSeen{"carrier", cell, wrote, "", used_for, ""};
  };
  const std::vector<Sequence> sequences = {Sequence::of(Order{0, 1, 2, 3})};
  std::vector<SequenceResult> results(1);
  results[0].outcomes.resize(4);
  results[0].outcomes[0].cells = {seen("a", true, "f32"), seen("b", true, "f32")};
  results[0].outcomes[1].cells = {seen("b", false, "f32")};
  results[0].outcomes[2].cells = {seen("a", false, "f16")};
  results[0].outcomes[3].cells = {seen("c", true, "f32")};
  std::vector<Pair> all;
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < 4; ++b)
      if (a != b) all.emplace_back(a, b);
  EXPECT_EQ(suspect_pairs(all, suite.cases(), sequences, results, false),
            (std::vector<Pair>{{0, 2}}));
  EXPECT_EQ(suspect_pairs(all, suite.cases(), sequences, results, true),
            (std::vector<Pair>{{0, 2}, {0, 1}}));
}

}  // namespace
}  // namespace parity
