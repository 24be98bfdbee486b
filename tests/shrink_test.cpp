// Shrinking: the exact sequence, at the stated cost, whatever the way state sticks.
#include "harness/shrink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "simulated_worker.hpp"

namespace parity {
namespace {

Order first_cases(std::size_t count) {
  Order order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

bool has(const Order& order, std::size_t c) {
  return std::find(order.begin(), order.end(), c) != order.end();
}

ShrinkRequest request(Order history, std::function<bool(const Order&)> fails) {
  ShrinkRequest request;
  request.history = std::move(history);
  request.trial = [fails](const Order& order) {
    return fails(order) ? Trial::fails : Trial::passes;
  };
  return request;
}

TEST(ShrinkTest, OnePolluterOf200CostsTenSequencesAtMost) {
  for (std::size_t polluter : {0u, 1u, 77u, 100u, 150u, 198u, 199u}) {
    const ShrinkResult result =
        shrink(request(first_cases(200), [&](const Order& order) { return has(order, polluter); }));
    EXPECT_TRUE(result.reproduced);
    EXPECT_EQ(result.history, Order{polluter});
    EXPECT_LE(result.trials, 10u) << polluter;
    EXPECT_LE(result.executions, 215u) << polluter;
  }
}

TEST(ShrinkTest, ASuspectThatFailsCostsOneTrial) {
  ShrinkRequest asked =
      request(first_cases(200), [](const Order& order) { return has(order, 42); });
  asked.suspects = {42, 7};
  const ShrinkResult result = shrink(asked);
  EXPECT_EQ(result.history, Order{42});
  EXPECT_EQ(result.trials, 1u);
  EXPECT_EQ(result.executions, 2u);
}

TEST(ShrinkTest, ThePredecessorIsTriedBeforeHalving) {
  const ShrinkResult result =
      shrink(request(first_cases(200), [](const Order& order) { return order.back() == 199; }));
  EXPECT_EQ(result.history, Order{199});
  EXPECT_EQ(result.trials, 1u);
}

TEST(ShrinkTest, TwoRequiredPollutersAreBothKeptInOrder) {
  const ShrinkResult result = shrink(request(first_cases(200), [](const Order& order) {
    const auto first = std::find(order.begin(), order.end(), 20);
    return std::find(first, order.end(), 150) != order.end();
  }));
  EXPECT_TRUE(result.reproduced);
  EXPECT_EQ(result.history, (Order{20, 150}));
}

TEST(ShrinkTest, AnySetOfRequiredPollutersIsFoundExactly) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Order shuffled = random_orders(40, 1, seed).front();
    Order required(shuffled.begin(), shuffled.begin() + 1 + static_cast<int>(seed % 4));
    std::sort(required.begin(), required.end());
    const ShrinkResult result = shrink(request(first_cases(40), [&](const Order& order) {
      return std::includes(order.begin(), order.end(), required.begin(), required.end());
    }));
    EXPECT_EQ(result.history, required) << "seed " << seed;
  }
}

TEST(ShrinkTest, ACounterKeepsAsManyRunsAsItNeeds) {
  const ShrinkResult result =
      shrink(request(first_cases(30), [](const Order& order) { return order.size() >= 4; }));
  EXPECT_EQ(result.history.size(), 4u);
}

TEST(ShrinkTest, ACleanerIsLeftOutAndThePolluterAfterItIsFound) {
  Order history = first_cases(20);
  history.insert(history.end(), {5, 20, 21});  // 5 pollutes, 10 cleans
  const ShrinkResult result = shrink(request(history, [](const Order& order) {
    const auto polluted = std::find(order.rbegin(), order.rend(), 5);
    const auto cleaned = std::find(order.rbegin(), order.rend(), 10);
    return polluted != order.rend() && polluted < cleaned;
  }));
  EXPECT_EQ(result.history, Order{5});
}

TEST(ShrinkTest, WhatNeverFailsAgainIsNotReproduced) {
  std::size_t full = 0;
  const ShrinkResult result = shrink(request(first_cases(8), [&](const Order& order) {
    full += order.size() == 8 ? 1 : 0;
    return false;
  }));
  EXPECT_FALSE(result.reproduced);
  EXPECT_EQ(result.history, first_cases(8));
  EXPECT_EQ(full, 5u);
}

TEST(ShrinkTest, UnresolvedTrialsAreNeverAccepted) {
  ShrinkRequest asked;
  asked.history = first_cases(16);
  asked.trial = [](const Order& order) {
    if (!has(order, 3)) return Trial::unresolved;  // e.g. the victim crashes instead
    return has(order, 12) ? Trial::fails : Trial::passes;
  };
  EXPECT_EQ(shrink(asked).history, (Order{3, 12}));
}

TEST(ShrinkTest, APairThatFailsHalfOfTheTimeIsStillFoundExactly) {
  std::size_t exact = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::size_t calls = 0;
    const ShrinkResult result = shrink(request(first_cases(32), [&](const Order& order) {
      return has(order, 4) && has(order, 25) && by_chance(0.5, calls++, seed);
    }));
    exact += result.history == Order{4, 25} ? 1 : 0;
  }
  EXPECT_GE(exact, 18u);
}

}  // namespace
}  // namespace parity
