// Coverage of the generated orders, counted pair by pair.
#include "harness/orders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "datasets/errors.hpp"

namespace parity {
namespace {

bool is_permutation_of(Order order, std::size_t n) {
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != i) return false;
  return order.size() == n;
}

TEST(OrdersTest, TuscanRowsHoldEveryOrderedPairAsNeighbours) {
  for (std::size_t n = 2; n <= 65; ++n) {
    std::vector<std::size_t> count(n * n, 0);
    std::vector<std::size_t> first(n, 0);
    std::vector<std::size_t> last(n, 0);
    const std::vector<Order> rows = tuscan_rows(n);
    ASSERT_EQ(rows.size(), n + n % 2);
    for (const Order& row : rows) {
      ASSERT_TRUE(is_permutation_of(row, n));
      ++first[row.front()];
      ++last[row.back()];
      for (std::size_t i = 1; i < n; ++i) ++count[row[i - 1] * n + row[i]];
    }
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b)
        ASSERT_EQ(count[a * n + b] == 0, a == b) << n << ": " << a << " before " << b;
      // An even square is exact: not one pair or end more than it needs.
      ASSERT_GE(first[a], 1u) << n;
      ASSERT_GE(last[a], 1u) << n;
    }
    if (n % 2 == 0) {
      EXPECT_EQ(*std::max_element(count.begin(), count.end()), 1u) << n;
      EXPECT_EQ(*std::max_element(first.begin(), first.end()), 1u) << n;
      EXPECT_EQ(*std::max_element(last.begin(), last.end()), 1u) << n;
    }
  }
}

TEST(OrdersTest, SmallestSquares) {
  EXPECT_TRUE(tuscan_rows(0).empty());
  EXPECT_EQ(tuscan_rows(1), (std::vector<Order>{{0}}));
  EXPECT_EQ(tuscan_rows(2), (std::vector<Order>{{0, 1}, {1, 0}}));
  EXPECT_EQ(tuscan_rows(4).front(), (Order{0, 3, 1, 2}));
}

TEST(OrdersTest, RandomOrdersFollowFromTheSeedAlone) {
  const std::vector<Order> orders = random_orders(20, 5, 42);
  ASSERT_EQ(orders.size(), 5u);
  for (const Order& order : orders) EXPECT_TRUE(is_permutation_of(order, 20));
  EXPECT_EQ(orders, random_orders(20, 5, 42));
  EXPECT_NE(orders, random_orders(20, 5, 43));
  EXPECT_EQ(std::set<Order>(orders.begin(), orders.end()).size(), 5u);
  const std::vector<Order> more = random_orders(20, 6, 42);
  EXPECT_TRUE(std::equal(orders.begin(), orders.end(), more.begin()));
}

TEST(OrdersTest, ShufflesAreUniform) {
  std::map<Order, int> counts;
  constexpr int kDraws = 24'000;
  for (const Order& order : random_orders(4, kDraws, 1)) ++counts[order];
  ASSERT_EQ(counts.size(), 24u);
  double chi_square = 0;
  for (const auto& [order, count] : counts) {
    const double off = count - kDraws / 24.0;
    chi_square += off * off / (kDraws / 24.0);
  }
  EXPECT_LT(chi_square, 73.0);  // 23 degrees of freedom: one false alarm in 3e6 seeds
}

TEST(OrdersTest, NoCasesOrOneCaseShuffleToThemselves) {
  EXPECT_EQ(random_orders(1, 2, 0), (std::vector<Order>{{0}, {0}}));
  EXPECT_EQ(random_orders(0, 1, 0), (std::vector<Order>{{}}));
}

TEST(OrdersTest, ChoiceIsTuscanOrRandomWithACount) {
  EXPECT_TRUE(parse_orders("tuscan").tuscan);
  const OrdersChoice random = parse_orders("random:12");
  EXPECT_FALSE(random.tuscan);
  EXPECT_EQ(random.random, 12u);
  for (const char* text : {"", "Tuscan", "random", "random:", "random:0", "random:-1", "random:+1",
                           "random:1e3", "random:3 ", "random:1000001", "tuscan:3"})
    EXPECT_THROW(parse_orders(text), UsageError) << text;
}

TEST(OrdersTest, RowsRepeatTheirLastCase) {
  const std::vector<Order> scheduled = schedule_rows(tuscan_rows(4), {0, 0, 0, 0});
  ASSERT_EQ(scheduled.size(), 4u);
  EXPECT_EQ(scheduled.front(), (Order{0, 3, 1, 2, 2}));
  EXPECT_EQ(schedule_rows(tuscan_rows(1), {0}), (std::vector<Order>{{0, 0}}));
}

TEST(OrdersTest, EachGroupComesFirstEarly) {
  const std::vector<std::size_t> group_of = {0, 0, 0, 1, 1, 2, 2, 2};
  const std::vector<Order> scheduled = schedule_rows(tuscan_rows(8), group_of);
  std::set<std::size_t> groups;
  std::set<std::size_t> first_cases;
  for (std::size_t i = 0; i < 3; ++i) groups.insert(group_of[scheduled[i].front()]);
  for (const Order& row : scheduled) first_cases.insert(row.front());
  EXPECT_EQ(groups.size(), 3u);
  EXPECT_EQ(first_cases.size(), 8u);
}

/// Leaks that a run sees: in a family, dtypes A compile first and B uses it, or A leaves last what
/// B reads.
std::size_t leaks_seen(const std::vector<Order>& rows, const std::vector<std::size_t>& dtype_of,
                       const std::vector<std::size_t>& family_of) {
  std::set<std::array<std::size_t, 4>> seen;
  for (const Order& row : rows)
    for (std::size_t b = 1; b < row.size(); ++b) {
      std::size_t first = b;
      std::size_t last = b;
      for (std::size_t a = b; a-- > 0;) {
        if (family_of[row[a]] != family_of[row[b]]) continue;
        first = a;
        if (last == b) last = a;
      }
      for (const auto& [way, a] :
           {std::pair(std::size_t{0}, first), std::pair(std::size_t{1}, last)})
        if (dtype_of[row[a]] != dtype_of[row[b]])
          seen.insert({family_of[row[b]], dtype_of[row[a]], dtype_of[row[b]], way});
    }
  return seen.size();
}

TEST(OrdersTest, WhatRunsFirstTellsMoreThanTheNaturalOrder) {
  for (const std::size_t dtypes : {4, 7, 8}) {
    std::vector<std::size_t> dtype_of;
    std::vector<std::size_t> family_of;
    for (std::size_t c = 0; c < 4 * dtypes; ++c) {
      dtype_of.push_back(c % dtypes);
      family_of.push_back(c / dtypes);
    }
    std::vector<Order> natural = tuscan_rows(4 * dtypes);
    std::vector<Order> scheduled = schedule_rows(natural, dtype_of, family_of);
    const std::size_t all = leaks_seen(natural, dtype_of, family_of);
    EXPECT_EQ(all, 4 * 2 * dtypes * (dtypes - 1)) << "every leak there is";
    EXPECT_EQ(leaks_seen(scheduled, dtype_of, family_of), all);
    natural.resize(dtypes);  // a quarter of the rows
    scheduled.resize(dtypes);
    const std::size_t naturally = leaks_seen(natural, dtype_of, family_of);
    const std::size_t by_schedule = leaks_seen(scheduled, dtype_of, family_of);
    RecordProperty("leaks_of_" + std::to_string(dtypes) + "_dtypes",
                   std::to_string(by_schedule) + " against " + std::to_string(naturally) + " of " +
                       std::to_string(all));
    EXPECT_GT(by_schedule, naturally) << dtypes << " dtypes, " << all << " leaks";
  }
}

TEST(OrdersTest, OddSquaresStillOpenWithEveryCase) {
  std::set<std::size_t> first_cases;
  for (const Order& row : schedule_rows(tuscan_rows(7), std::vector<std::size_t>(7, 0)))
    first_cases.insert(row.front());
  EXPECT_EQ(first_cases.size(), 7u);
}

}  // namespace
}  // namespace parity
