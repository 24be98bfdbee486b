// Coverage and size of covering arrays, with and without constraints.
#include "harness/pairwise.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace parity {
namespace {

using Pair = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;

bool anything(const Combination&) {
  return true;
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
  const std::vector<Combination> rows = pairwise(sizes, anything);
  EXPECT_EQ(pairs_of(rows).size(), 13u * 12 / 2 * 9);
  EXPECT_LE(rows.size(), 27u);
}

TEST(PairwiseTest, UnequalAxesNeedLittleMoreThanTheTwoLargest) {
  const std::vector<std::size_t> sizes = {3, 3, 3, 4, 5, 4, 2, 8};
  const std::vector<Combination> rows = pairwise(sizes, anything);
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
  const std::vector<Combination> rows = pairwise(sizes, valid);
  for (const Combination& row : rows) EXPECT_TRUE(valid(row));
  EXPECT_EQ(pairs_of(rows), possible);
}

TEST(PairwiseTest, EightAxesOfTenValuesWithAConstraint) {
  const std::vector<std::size_t> sizes(8, 10);
  const auto valid = [](const Combination& c) { return c[0] != c[7]; };
  const std::vector<Combination> rows = pairwise(sizes, valid);
  EXPECT_EQ(pairs_of(rows).size(), 28u * 100 - 10);
  EXPECT_LE(rows.size(), 200u);
}

TEST(PairwiseTest, SameAnswerEveryTime) {
  const std::vector<std::size_t> sizes = {5, 3, 4, 2};
  EXPECT_EQ(pairwise(sizes, anything), pairwise(sizes, anything));
}

TEST(PairwiseTest, OneAxisGivesEachValidValue) {
  const std::vector<Combination> rows =
      pairwise({4}, [](const Combination& c) { return c[0] != 2; });
  EXPECT_EQ(rows, (std::vector<Combination>{{0}, {1}, {3}}));
}

TEST(PairwiseTest, NothingToCombineGivesNothing) {
  EXPECT_TRUE(pairwise({}, anything).empty());
  EXPECT_TRUE(pairwise({3, 0, 2}, anything).empty());
  EXPECT_TRUE(pairwise({3, 2}, [](const Combination&) { return false; }).empty());
}

}  // namespace
}  // namespace parity
