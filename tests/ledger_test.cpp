// Which ordered pairs the ledger says were planned and really exercised.
#include "harness/ledger.hpp"

#include <gtest/gtest.h>

namespace parity {
namespace {

TEST(LedgerTest, TuscanRowsPlanEveryPairAndExerciseWhatRan) {
  constexpr std::size_t kCases = 6;
  Ledger ledger(kCases);
  const std::vector<Order> rows = tuscan_rows(kCases);
  for (const Order& row : rows) ledger.plan(row);
  EXPECT_EQ(ledger.adjacent(), (PairCount{30, 30, 0}));
  for (const Order& row : rows) ledger.exercise(row, row.size());
  EXPECT_EQ(ledger.adjacent(), (PairCount{30, 30, 30}));
  EXPECT_EQ(ledger.ordered(), (PairCount{30, 30, 30}));
  EXPECT_TRUE(ledger.missing().empty());
}

TEST(LedgerTest, VoidTailIsNotExercised) {
  Ledger ledger(4);
  const Order order = {0, 1, 2, 3};
  ledger.plan(order);
  ledger.exercise(order, 2);
  EXPECT_EQ(ledger.adjacent(), (PairCount{12, 3, 1}));
  EXPECT_EQ(ledger.ordered(), (PairCount{12, 6, 1}));
  EXPECT_EQ(ledger.missing().size(), 11u);
  EXPECT_EQ(ledger.missing().front(), std::pair(std::size_t{0}, std::size_t{2}));
}

TEST(LedgerTest, NothingCompletedExercisesNothing) {
  Ledger ledger(2);
  ledger.exercise({0, 1}, 0);
  ledger.exercise({0, 1}, 1);
  EXPECT_EQ(ledger.adjacent().exercised, 0u);
}

TEST(LedgerTest, RepeatedCaseIsNoPair) {
  Ledger ledger(2);
  ledger.exercise({0, 0, 1, 1}, 4);
  EXPECT_EQ(ledger.adjacent(), (PairCount{2, 0, 1}));
  EXPECT_EQ(ledger.ordered(), (PairCount{2, 0, 1}));
}

TEST(LedgerTest, CaseThatComesBackIsAfterTheOthers) {
  Ledger ledger(3);
  ledger.exercise({0, 1, 2, 0}, 4);
  EXPECT_EQ(ledger.ordered(), (PairCount{6, 0, 5}));  // all but (2, 1)
  EXPECT_EQ(ledger.adjacent(), (PairCount{6, 0, 3}));
}

TEST(LedgerTest, OnlyPairsWithinAGroupArePossible) {
  Ledger ledger(4, {7, 7, 3, 3});
  ledger.plan({0, 1, 2, 3});
  ledger.exercise({0, 1, 2, 3}, 4);
  EXPECT_EQ(ledger.adjacent(), (PairCount{4, 2, 2}));
  EXPECT_EQ(ledger.ordered(), (PairCount{4, 2, 2}));
  const std::vector<std::pair<std::size_t, std::size_t>> missing = {{1, 0}, {3, 2}};
  EXPECT_EQ(ledger.missing(), missing);
}

TEST(LedgerTest, PairSeenTwiceCountsOnce) {
  Ledger ledger(2);
  ledger.exercise({0, 1, 0, 1}, 4);
  EXPECT_EQ(ledger.adjacent(), (PairCount{2, 0, 2}));
}

TEST(LedgerTest, ARefusedCaseIsInNoExercisedPair) {
  Ledger ledger(3);
  ledger.exercise({0, 1, 2}, {true, false, true});
  EXPECT_EQ(ledger.adjacent().exercised, 0u);
  EXPECT_EQ(ledger.ordered().exercised, 1u);  // 0 before 2
}

}  // namespace
}  // namespace parity
