// Coverage and size of covering arrays, with and without constraints.
#include "harness/pairwise.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "datasets/errors.hpp"

namespace parity {
namespace {

using Pair = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;

/// No constraint.
std::vector<Constraint> anything() {
  return {};
}

/// One constraint that looks at all axes.
std::vector<Constraint> whole(std::size_t axes, std::function<bool(const Combination&)> holds) {
  Constraint constraint{.axes = std::vector<std::size_t>(axes), .holds = std::move(holds)};
  std::iota(constraint.axes.begin(), constraint.axes.end(), std::size_t{0});
  return {std::move(constraint)};
}

void add_pairs(const Combination& row, std::set<Pair>& pairs) {
  for (std::size_t i = 0; i < row.size(); ++i)
    for (std::size_t j = i + 1; j < row.size(); ++j) pairs.emplace(i, row[i], j, row[j]);
}

std::set<Pair> pairs_of(const std::vector<Combination>& rows) {
  std::set<Pair> pairs;
  for (const Combination& row : rows) add_pairs(row, pairs);
  return pairs;
}

/// Every combination, by counting through them.
std::vector<Combination> all_combinations(const std::vector<std::size_t>& sizes) {
  std::vector<Combination> all = {{}};
  for (const std::size_t size : sizes) {
    std::vector<Combination> longer;
    for (const Combination& row : all)
      for (std::size_t value = 0; value < size; ++value) {
        longer.push_back(row);
        longer.back().push_back(value);
      }
    all = std::move(longer);
  }
  return all;
}

TEST(PairwiseTest, EveryPairOccursInFewRows) {
  const std::vector<std::size_t> sizes(13, 3);
  const std::vector<Combination> rows = pairwise(sizes, anything());
  EXPECT_EQ(pairs_of(rows).size(), 13u * 12 / 2 * 9);
  EXPECT_LE(rows.size(), 27u);
}

TEST(PairwiseTest, UnequalAxesNeedLittleMoreThanTheTwoLargest) {
  const std::vector<std::size_t> sizes = {3, 3, 3, 4, 5, 4, 2, 8};
  const std::vector<Combination> rows = pairwise(sizes, anything());
  EXPECT_EQ(pairs_of(rows), pairs_of(all_combinations({3, 3, 3, 4, 5, 4, 2, 8})));
  EXPECT_LE(rows.size(), 48u);
}

TEST(PairwiseTest, EveryPairOfSomeValidCombinationOccursAndNoOther) {
  const std::vector<std::size_t> sizes = {4, 4, 3, 2};
  const auto valid = [](const Combination& c) {
    return c[0] >= c[1] && !(c[2] == 2 && c[3] == 1) && !(c[0] == 3 && c[2] == 0 && c[3] == 0);
  };
  std::set<Pair> possible;
  for (const Combination& row : all_combinations(sizes))
    if (valid(row)) add_pairs(row, possible);
  const std::vector<Combination> rows = pairwise(sizes, whole(4, valid));
  for (const Combination& row : rows) EXPECT_TRUE(valid(row));
  EXPECT_EQ(pairs_of(rows), possible);
}

TEST(PairwiseTest, EightAxesOfTenValuesWithAConstraint) {
  const std::vector<std::size_t> sizes(8, 10);
  const Constraint unequal{{0, 7}, [](const Combination& c) { return c[0] != c[7]; }};
  const std::vector<Combination> rows = pairwise(sizes, {unequal});
  EXPECT_EQ(pairs_of(rows).size(), 28u * 100 - 10);
  EXPECT_LE(rows.size(), 200u);
}

/// Ten axes of ten values would be 10^10 combinations to try for a pair that exists in none, or
/// whose only way out lies far back.
TEST(PairwiseTest, ManyConstraintsOfAFewAxesAreSolvedAndNotTriedOut) {
  const std::vector<std::size_t> sizes(10, 10);
  const auto below = [](std::size_t a, std::size_t b) {
    return Constraint{{a, b}, [a, b](const Combination& c) { return c[a] <= c[b]; }};
  };
  const std::vector<Constraint> rising = {below(0, 1), below(1, 2), below(2, 3)};
  const std::vector<Combination> rows = pairwise(sizes, rising);
  for (const Combination& row : rows)
    for (const Constraint& constraint : rising) EXPECT_TRUE(constraint.holds(row));
  // Six pairs of the four rising axes have 55 pairs of values, the other 39 have 100.
  EXPECT_EQ(pairs_of(rows).size(), 6u * 55 + 39 * 100);
}

TEST(PairwiseTest, AConstraintIsAskedOnlyOnceItsAxesAreChosen) {
  bool early = false;
  const Constraint curious{{1, 3}, [&](const Combination& c) {
                             early = early || c[1] >= 3 || c[3] >= 3;
                             return c[1] != c[3];
                           }};
  pairwise({3, 3, 3, 3, 3}, {curious});
  EXPECT_FALSE(early);
}

TEST(PairwiseTest, MoreAxesThanItCanTellApartAreRefused) {
  EXPECT_THROW(pairwise(std::vector<std::size_t>(65, 2), anything()), UsageError);
}

TEST(PairwiseTest, SameAnswerEveryTime) {
  const std::vector<std::size_t> sizes = {5, 3, 4, 2};
  EXPECT_EQ(pairwise(sizes, anything()), pairwise(sizes, anything()));
}

TEST(PairwiseTest, OneAxisGivesEachValidValue) {
  const std::vector<Combination> rows =
      pairwise({4}, whole(1, [](const Combination& c) { return c[0] != 2; }));
  EXPECT_EQ(rows, (std::vector<Combination>{{0}, {1}, {3}}));
}

TEST(PairwiseTest, NothingToCombineGivesNothing) {
  EXPECT_TRUE(pairwise({}, anything()).empty());
  EXPECT_TRUE(pairwise({3, 0, 2}, anything()).empty());
  EXPECT_TRUE(pairwise({3, 2}, whole(2, [](const Combination&) { return false; })).empty());
}

}  // namespace
}  // namespace parity
