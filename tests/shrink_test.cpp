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

/// Mean executions over seeded placements of `required` polluters among 200, each exact.
double mean_executions(std::size_t required, std::size_t placements) {
  std::size_t executions = 0;
  for (std::uint64_t seed = 0; seed < placements; ++seed) {
    const Order drawn = random_orders(200, 1, seed).front();
    Order polluters(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(required));
    std::ranges::sort(polluters);
    const ShrinkResult result = shrink(request(first_cases(200), [&](const Order& order) {
      return std::ranges::includes(order, polluters);
    }));
    EXPECT_EQ(result.history, polluters) << "seed " << seed;
    executions += result.executions;
  }
  return static_cast<double>(executions) / static_cast<double>(placements);
}

TEST(ShrinkTest, OnePolluterOf200CostsOneRunOfTheHistoryWhereverItStands) {
  std::size_t executions = 0;
  for (std::size_t polluter = 0; polluter < 200; ++polluter)
    executions += shrink(request(first_cases(200), [&](const Order& order) {
                    return has(order, polluter);
                  })).executions;
  EXPECT_LE(executions, 211u * 200u);
}

TEST(ShrinkTest, SeveralPollutersOf200CostLessThanDeltaDebugging) {
  // ddmin takes 978 and 2232 over 200 placements.
  EXPECT_LE(mean_executions(2, 40), 960);
  EXPECT_LE(mean_executions(3, 40), 1560);
}

TEST(ShrinkTest, WhatRanBeforeEveryFailureIsTriedTogether) {
  ShrinkRequest asked = request(first_cases(200), [](const Order& order) {
    return has(order, 20) && has(order, 90) && has(order, 150);
  });
  asked.common = {20, 57, 90, 150};
  const ShrinkResult result = shrink(asked);
  EXPECT_EQ(result.history, (Order{20, 90, 150}));
  EXPECT_LE(result.executions, 80u);
}

TEST(ShrinkTest, CommonCasesThatDoNotSufficeCostOneTrial) {
  ShrinkRequest asked =
      request(first_cases(64), [](const Order& order) { return has(order, 5) && has(order, 40); });
  const ShrinkResult without = shrink(asked);
  asked.common = {5, 6, 7};
  const ShrinkResult with = shrink(asked);
  EXPECT_EQ(with.history, (Order{5, 40}));
  EXPECT_EQ(with.executions, without.executions + 4);
}

TEST(ShrinkTest, ARareFailureIsTriedAsOftenAsItsRateAsks) {
  std::size_t exact = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::size_t calls = 0;
    ShrinkRequest asked = request(first_cases(100), [&](const Order& order) {
      return has(order, 42) && by_chance(0.3, calls++, seed);
    });
    asked.suspects = {17, 42};
    asked.rate = 0.3;
    const ShrinkResult result = shrink(asked);
    exact += result.history == Order{42} && result.executions <= 36 ? 1 : 0;
  }
  EXPECT_GE(exact, 17u);  // nine tries miss it once in 25
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
