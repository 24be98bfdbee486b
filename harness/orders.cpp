// Tuscan squares by Williams' zig-zag, seeded shuffles, and the order in which rows are run.
#include "harness/orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
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

/// Chooses rows, the most telling first. A meeting is (family, group A, group B, which of two
/// ways).
class Telling {
 public:
  Telling(const std::vector<Order>& rows, const std::vector<std::size_t>& group_of,
          const std::vector<std::size_t>& family_of)
      : opened_(one_more_than_largest(group_of), 0) {
    std::map<std::array<std::size_t, 4>, std::size_t> numbers;
    for (const Order& row : rows) {
      std::map<std::size_t, std::array<std::size_t, 2>> first_and_last;  // by family
      std::vector<std::size_t> meetings;
      for (const std::size_t c : row) {
        const auto [known, is_first] =
            first_and_last.try_emplace(family_of.at(c), std::array{group_of.at(c), group_of.at(c)});
        auto& before = known->second;
        for (std::size_t way = 0; way < 2 && !is_first; ++way)
          if (before[way] != group_of[c])
            meetings.push_back(
                numbers.try_emplace({family_of[c], before[way], group_of[c], way}, numbers.size())
                    .first->second);
        before[1] = group_of[c];
      }
      left_.push_back({left_.size(), group_of.at(row.front()), std::move(meetings)});
    }
    met_.assign(numbers.size(), false);
  }

  /// Index of a row, each once.
  std::size_t take_next() {
    std::size_t rarest = std::numeric_limits<std::size_t>::max();
    for (const Row& row : left_) rarest = std::min(rarest, opened_[row.group]);
    auto best = left_.end();
    std::ptrdiff_t most = -1;
    for (auto row = left_.begin(); row != left_.end(); ++row) {
      if (opened_[row->group] != rarest) continue;
      const auto is_new =
          std::ranges::count_if(row->meetings, [&](std::size_t m) { return !met_[m]; });
      if (is_new <= most) continue;
      most = is_new;
      best = row;
    }
    for (const std::size_t m : best->meetings) met_[m] = true;
    ++opened_[best->group];
    const std::size_t index = best->index;
    left_.erase(best);
    return index;
  }

 private:
  struct Row {
    std::size_t index;
    std::size_t group;  ///< of its first case
    std::vector<std::size_t> meetings;
  };
  static std::size_t one_more_than_largest(const std::vector<std::size_t>& groups) {
    return groups.empty() ? 0 : *std::ranges::max_element(groups) + 1;
  }

  std::vector<std::size_t> opened_;  ///< by group: rows taken that open with it
  std::vector<Row> left_;
  std::vector<bool> met_;
};

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

std::vector<Order> schedule_rows(std::vector<Order> rows, const std::vector<std::size_t>& group_of,
                                 const std::vector<std::size_t>& family_of) {
  std::erase_if(rows, [](const Order& row) { return row.empty(); });
  Telling telling(rows, group_of,
                  family_of.empty() ? std::vector<std::size_t>(group_of.size(), 0) : family_of);
  std::vector<Order> scheduled;
  for (std::size_t count = rows.size(); count > 0; --count) {
    Order& row = rows[telling.take_next()];
    row.push_back(Order::value_type{row.back()});
    scheduled.push_back(std::move(row));
  }
  return scheduled;
}

}  // namespace parity
