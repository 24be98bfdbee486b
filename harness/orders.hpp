// Plans: orders of n cases with a stated coverage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parity {

/// Indices of cases, run in this order in one fresh process.
using Order = std::vector<std::size_t>;

/// Rows in which every ordered pair (a immediately before b) occurs, every case first once and last
/// once (n >= 2: even n by Williams' zig-zag with n rows; odd n by deleting a symbol from the
/// square of n+1, n+1 rows). n = 1 gives {{0}}, n = 0 nothing.
std::vector<Order> tuscan_rows(std::size_t n);

/// `count` seeded shuffles of 0..n-1 (Philox words, Fisher-Yates; equal on every machine).
std::vector<Order> random_orders(std::size_t n, std::size_t count, std::uint64_t seed);

/// What --orders says: "tuscan" or "random:N". Throws UsageError.
struct OrdersChoice {
  bool tuscan = true;
  std::size_t random = 0;
};
OrdersChoice parse_orders(std::string_view text);

/// The rows as run: each repeats its last case once (self-pollution). Every case is the first of
/// some row; each group (`group_of[case]`, e.g. its dtypes) comes first early; and among the rows
/// that this leaves, the next is the one that tells most: in which most groups A meet a group B of
/// their family for the first time, A being the first of the family there (who comes first decides
/// for all), or the one just before B (who came last decides). `family_of[case]`: cases that may
/// share state; left out: all are one family.
std::vector<Order> schedule_rows(std::vector<Order> rows, const std::vector<std::size_t>& group_of,
                                 const std::vector<std::size_t>& family_of = {});

}  // namespace parity
