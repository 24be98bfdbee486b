// From a selection of cases to the orders that will be run, and the ledger of what was.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/case.hpp"
#include "harness/ledger.hpp"
#include "harness/orders.hpp"
#include "harness/outcome.hpp"

namespace parity {

enum class Permute : std::uint8_t { none, order, dtype };

struct Plan {
  std::vector<Order> orders;
  /// Cases of equal number may pair: one group for `order`, one for each set of dtype variants for
  /// `dtype`.
  std::vector<std::size_t> group_of;

  /// Planned pairs with this many host threads, none exercised yet.
  Ledger ledger(std::size_t threads = 1) const;
};

/// none: every case once, in registry order, in one process. order: Tuscan rows or seeded shuffles
/// over all cases. dtype: the same within each group of cases that differ only in dtypes. With
/// several host threads, first each case in all of them at once: all ask for what is cold.
Plan make_plan(std::span<const Case> cases, Permute permute, const OrdersChoice& orders,
               std::uint64_t seed, std::size_t threads = 1);

/// Enters what really ran.
void enter(Ledger& ledger, std::span<const Sequence> sequences,
           std::span<const SequenceResult> results);

/// Sequences of which at least one step ended.
std::size_t orders_begun(std::span<const SequenceResult> results);

/// Cases that ran, but never first in a process: without their bits alone, what an order did to
/// them cannot be seen. One order each.
std::vector<Order> never_alone(std::size_t cases, std::span<const Sequence> sequences,
                               std::span<const SequenceResult> results);

}  // namespace parity
