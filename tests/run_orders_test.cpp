// Waves of orders over a simulated executor: what is queued again, what is quarantined, and that it
// ends.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

#include "harness/orders.hpp"
#include "harness/supervisor.hpp"

namespace parity {
namespace {

/// Runs cases by a rule: the status of `order[position]`.
class Simulated final : public Executor {
 public:
  using Rule = std::function<Status(const Order& order, std::size_t position)>;
  explicit Simulated(Rule rule) : rule_(std::move(rule)) {}

  std::vector<SequenceResult> execute(std::span<const Sequence> sequences) override {
    ++waves;
    std::vector<SequenceResult> results;
    for (const Sequence& sequence : sequences) results.push_back(run(sequence));
    return results;
  }
  const CarrierAbilities& abilities() override { return abilities_; }

  std::size_t waves = 0;

 private:
  SequenceResult run(const Sequence& sequence) const {
    Order order;
    for (const Step& step : sequence.steps) order.push_back(step.case_index);
    SequenceResult result;
    result.outcomes.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      result.outcomes[i].status = rule_(order, i);
      if (result.outcomes[i].status != Status::ok) break;
    }
    return result;
  }

  Rule rule_;
  CarrierAbilities abilities_;
};

Order order_of(const Sequence& sequence) {
  Order order;
  for (const Step& step : sequence.steps) order.push_back(step.case_index);
  return order;
}

std::vector<Order> orders_of(const OrdersRun& run) {
  std::vector<Order> orders;
  for (const Sequence& sequence : run.sequences) orders.push_back(order_of(sequence));
  return orders;
}

Simulated crashing(std::set<std::size_t> cases, Status how = Status::crashed) {
  return Simulated([cases, how](const Order& order, std::size_t i) {
    return cases.count(order[i]) != 0 ? how : Status::ok;
  });
}

TEST(RunOrdersTest, OrdersThatRunWellRunOnce) {
  Simulated executor = crashing({});
  const OrdersRun run = run_orders(std::vector<Order>{{0, 1, 2}, {2, 1, 0}}, executor);
  EXPECT_EQ(orders_of(run), (std::vector<Order>{{0, 1, 2}, {2, 1, 0}}));
  EXPECT_EQ(run.results.size(), 2u);
  EXPECT_EQ(executor.waves, 1u);
  EXPECT_TRUE(run.quarantined.empty());
}

TEST(RunOrdersTest, PoisonPhasesAlternateOverAllSequences) {
  Simulated executor = crashing({1});
  const OrdersRun run = run_orders(std::vector<Order>{{1, 0}, {0, 2}, {2, 0}}, executor);
  ASSERT_EQ(run.sequences.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(run.sequences[i].poison_phase, i % 2);
}

TEST(RunOrdersTest, ACaseThatCrashesAloneIsLeftOutOfTheTails) {
  Simulated executor = crashing({1});
  const OrdersRun run = run_orders(std::vector<Order>{{0, 1, 2, 1, 3}, {1, 3, 0}}, executor);
  EXPECT_EQ(orders_of(run), (std::vector<Order>{{0, 1, 2, 1, 3}, {1, 3, 0}, {2, 3}, {3, 0}}));
  EXPECT_EQ(run.quarantined, (std::vector<std::size_t>{1}));
}

TEST(RunOrdersTest, ATimeoutAloneIsQuarantinedToo) {
  Simulated executor = crashing({1}, Status::timed_out);
  const OrdersRun run = run_orders(std::vector<Order>{{1, 0}}, executor);
  EXPECT_EQ(orders_of(run), (std::vector<Order>{{1, 0}, {0}}));
  EXPECT_EQ(run.quarantined, (std::vector<std::size_t>{1}));
}

TEST(RunOrdersTest, ACaseNotYetSeenAloneOpensItsTail) {
  Simulated executor = crashing({1});
  const OrdersRun run = run_orders(std::vector<Order>{{0, 1, 2}}, executor);
  EXPECT_EQ(orders_of(run), (std::vector<Order>{{0, 1, 2}, {1, 2}, {2}}));
  EXPECT_EQ(run.quarantined, (std::vector<std::size_t>{1}));
}

TEST(RunOrdersTest, ACrashAfterAPolluterKeepsItsOtherPairs) {
  Simulated executor([](const Order& order, std::size_t i) {
    return i > 0 && order[i] == 1 && order[i - 1] == 0 ? Status::crashed : Status::ok;
  });
  const OrdersRun run = run_orders(std::vector<Order>{{0, 1, 2}}, executor);
  EXPECT_EQ(orders_of(run), (std::vector<Order>{{0, 1, 2}, {1, 2}}));
  EXPECT_TRUE(run.quarantined.empty());
}

TEST(RunOrdersTest, EndsThoughEveryCaseCrashesWhereverItStands) {
  Simulated executor = crashing({0, 1, 2, 3, 4, 5});
  const OrdersRun run = run_orders(tuscan_rows(6), executor);
  EXPECT_EQ(run.quarantined.size(), 6u);
  EXPECT_EQ(run.sequences.size(), 6u);  // each row opens with another case: all are seen at once
}

TEST(RunOrdersTest, EndsThoughEveryCaseCrashesAfterAnyOther) {
  Simulated executor(
      [](const Order&, std::size_t i) { return i == 0 ? Status::ok : Status::crashed; });
  const OrdersRun run = run_orders(std::vector<Order>{{0, 1, 2, 3}}, executor);
  EXPECT_EQ(orders_of(run), (std::vector<Order>{{0, 1, 2, 3}, {1, 2, 3}, {2, 3}, {3}}));
}

TEST(RunOrdersTest, AnOrderThatWasStoppedIsNotQueuedAgain) {
  Simulated executor(
      [](const Order&, std::size_t i) { return i < 1 ? Status::ok : Status::not_run; });
  const OrdersRun run = run_orders(std::vector<Order>{{0, 1, 2}}, executor);
  EXPECT_EQ(run.sequences.size(), 1u);
  EXPECT_TRUE(run.quarantined.empty());
}

}  // namespace
}  // namespace parity
