#include "harness/plan.hpp"

#include <gtest/gtest.h>

#include <set>

namespace parity {
namespace {

/// Two geometries of a toy kernel at three dtypes each.
class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    spec_.name = "toy";
    spec_.operation = "toy";
    spec_.dtypes = {{"x", {Dtype::f32, Dtype::f16, Dtype::bf16}}};
    spec_.constants = {{"n", {1, 2}}};
    spec_.recipes = {"plain"};
    for (const std::int64_t n : {1, 2})
      for (const Dtype dtype : spec_.dtypes[0].values)
        cases_.push_back({&spec_, {dtype}, {n}, "plain"});
  }
  KernelSpec spec_;
  std::vector<Case> cases_;
};

TEST_F(PlanTest, WithoutPermutationEveryCaseRunsOnceInRegistryOrder) {
  const Plan plan = make_plan(cases_, Permute::none, {}, 0);
  ASSERT_EQ(plan.orders.size(), 1u);
  EXPECT_EQ(plan.orders[0], (Order{0, 1, 2, 3, 4, 5}));
}

TEST_F(PlanTest, PermutedOrdersPlanEveryOrderedPairAndStartEveryCaseFirst) {
  const Plan plan = make_plan(cases_, Permute::order, {}, 0);
  const PairCount pairs = plan.ledger().adjacent();
  EXPECT_EQ(pairs.possible, 30u);
  EXPECT_EQ(pairs.planned, 30u);
  EXPECT_EQ(pairs.exercised, 0u);
  std::set<std::size_t> first;
  for (const Order& order : plan.orders) first.insert(order.front());
  EXPECT_EQ(first.size(), cases_.size());
}

TEST_F(PlanTest, PermutedDtypesStayWithinOneGeometry) {
  const Plan plan = make_plan(cases_, Permute::dtype, {}, 0);
  EXPECT_EQ(plan.ledger().adjacent(), (PairCount{12, 12, 0}));
  for (const Order& order : plan.orders)
    for (const std::size_t index : order) EXPECT_EQ(index / 3, order.front() / 3);
}

TEST_F(PlanTest, RandomOrdersFollowTheSeedAndNothingElse) {
  const OrdersChoice choice{false, 4};
  const Plan plan = make_plan(cases_, Permute::order, choice, 7);
  EXPECT_EQ(plan.orders, make_plan(cases_, Permute::order, choice, 7).orders);
  EXPECT_NE(plan.orders, make_plan(cases_, Permute::order, choice, 8).orders);
}

TEST_F(PlanTest, OnlyCompletedPositionsEnterTheLedger) {
  const Plan plan = make_plan(cases_, Permute::none, {}, 0);
  Ledger ledger = plan.ledger();
  const std::vector<Sequence> sequences = {Sequence::of(plan.orders[0])};
  std::vector<SequenceResult> results(1);
  results[0].outcomes.resize(6);
  for (std::size_t i = 0; i < 3; ++i) results[0].outcomes[i].status = Status::ok;
  enter(ledger, sequences, results);
  EXPECT_EQ(ledger.adjacent(), (PairCount{30, 5, 2}));
  EXPECT_EQ(ledger.ordered(), (PairCount{30, 15, 3}));
}

TEST_F(PlanTest, CasesThatNeverRanFirstAreNamed) {
  const std::vector<Sequence> sequences = {Sequence::of(Order{0, 1, 2}), Sequence::of(Order{2, 3})};
  std::vector<SequenceResult> results(2);
  results[0].outcomes.resize(3);
  results[1].outcomes.resize(2);
  for (Outcome& outcome : results[0].outcomes) outcome.status = Status::ok;
  results[1].outcomes[0].status = Status::ok;  // 3 did not run
  EXPECT_EQ(never_alone(4, sequences, results), (std::vector<Order>{{1}}));
  EXPECT_EQ(orders_begun(results), 2u);
}

}  // namespace
}  // namespace parity
