// Tuscan squares by Williams' zig-zag, seeded shuffles, and the order in which rows are run.
#include "harness/orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "datasets/errors.hpp"
#include "datasets/fill.hpp"

namespace parity {
namespace {

constexpr std::size_t kMostRandomOrders = 1'000'000;

/// Differences of neighbours in 0, n−1, 1, n−2, … are all distinct mod n (even n), so its n
/// translates hold each ordered pair exactly once as neighbours. Williams, "Experimental designs
/// balanced for the estimation of residual effects of treatments", 1949.
std::vector<Order> williams_square(std::size_t n) {
  std::vector<Order> rows(n);
  for (std::size_t shift = 0; shift < n; ++shift)
    for (std::size_t i = 0; i < n; ++i)
      rows[shift].push_back(((i % 2 == 0 ? i / 2 : n - 1 - i / 2) + shift) % n);
  return rows;
}

/// Uniform in 0..range-1 from the words of one Philox stream; `drawn` counts the words used.
std::size_t draw_below(std::uint32_t range, std::uint64_t seed, std::uint32_t stream,
                       std::uint64_t& drawn) {
  // Words below 2^32 mod range would favour small results.
  const std::uint32_t biased = (0u - range) % range;
  for (;;) {
    const std::uint32_t word = random_word(seed, stream, drawn++);
    if (word >= biased) return word % range;
  }
}

}  // namespace

std::vector<Order> tuscan_rows(std::size_t n) {
  if (n == 0) return {};
  if (n == 1) return {{0}};
  if (n % 2 == 0) return williams_square(n);
  std::vector<Order> rows = williams_square(n + 1);
  // Taking a symbol out of a row only makes new neighbours; those that were there stay.
  for (Order& row : rows) std::erase(row, n);
  return rows;
}

std::vector<Order> random_orders(std::size_t n, std::size_t count, std::uint64_t seed) {
  std::vector<Order> orders;
  for (std::size_t k = 0; k < count; ++k) {
    Order order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::uint64_t drawn = 0;
    for (std::size_t i = n; i > 1; --i)
      std::swap(order[i - 1], order[draw_below(static_cast<std::uint32_t>(i), seed,
                                               static_cast<std::uint32_t>(k), drawn)]);
    orders.push_back(std::move(order));
  }
  return orders;
}

OrdersChoice parse_orders(std::string_view text) {
  constexpr std::string_view kRandom = "random:";
  if (text == "tuscan") return {};
  if (text.starts_with(kRandom)) {
    const std::string_view number = text.substr(kRandom.size());
    std::size_t count = 0;
    const char* end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, count);
    if (error == std::errc{} && stop == end && count >= 1 && count <= kMostRandomOrders)
      return {.tuscan = false, .random = count};
  }
  throw UsageError(
      fmt::format("orders '{}' are unknown; say tuscan, or random:N with N from 1 to {}", text,
                  kMostRandomOrders));
}

std::vector<Order> schedule_rows(std::vector<Order> rows,
                                 const std::vector<std::size_t>& group_of) {
  std::erase_if(rows, [](const Order& row) { return row.empty(); });
  std::size_t groups = 0;
  for (const std::size_t group : group_of) groups = std::max(groups, group + 1);
  // A row's round is how many earlier rows open with its group: round 0 shows each group first
  // once.
  std::vector<std::size_t> opened(groups, 0);
  std::vector<std::pair<std::size_t, std::size_t>> by_round;
  for (std::size_t i = 0; i < rows.size(); ++i)
    by_round.emplace_back(opened.at(group_of.at(rows[i].front()))++, i);
  std::sort(by_round.begin(), by_round.end());
  std::vector<Order> scheduled;
  for (const auto& [round, index] : by_round) {
    Order& row = rows[index];
    row.push_back(Order::value_type{row.back()});
    scheduled.push_back(std::move(row));
  }
  return scheduled;
}

}  // namespace parity
