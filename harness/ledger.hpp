// The ledger of ordered pairs really exercised: planned coverage is never reported as achieved.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/orders.hpp"

namespace parity {

struct PairCount {
  std::size_t possible = 0;
  std::size_t planned = 0;
  std::size_t exercised = 0;

  bool operator==(const PairCount&) const = default;
};

class Ledger {
 public:
  /// All n(n-1) ordered pairs of different cases are possible.
  explicit Ledger(std::size_t cases);
  /// `within`: pairs only of cases in the same group are possible (--permute-dtype).
  Ledger(std::size_t cases, const std::vector<std::size_t>& group_of);

  /// `groups`: how many cases, from the front, run at the same time; none: one after the other.
  void plan(const Order& order, const std::vector<std::size_t>& groups = {});
  /// `completed` positions of the order were launched; the rest is void.
  void exercise(const Order& order, std::size_t completed);
  /// Only positions with `launched` count; a case between two others that was refused keeps them
  /// from being adjacent. Requires as many flags as positions.
  void exercise(const Order& order, const std::vector<bool>& launched,
                const std::vector<std::size_t>& groups = {});

  PairCount adjacent() const;  ///< a immediately before b, or in the group before b's
  PairCount ordered() const;   ///< a anywhere before b
  PairCount together() const;  ///< a and b at the same time: pairs without an order
  /// Pairs (a, b) possible and not exercised as adjacent, in index order.
  std::vector<std::pair<std::size_t, std::size_t>> missing() const;

 private:
  enum Bit : unsigned char { kPossible = 1, kPlanned = 2, kExercised = 4 };
  void mark(const Order& order, const std::vector<bool>& counts,
            const std::vector<std::size_t>& groups, Bit bit);
  PairCount count(const std::vector<unsigned char>& table) const;

  std::size_t cases_;
  std::vector<unsigned char> adjacent_;
  std::vector<unsigned char> ordered_;
  std::vector<unsigned char> together_;  ///< both ways
};

}  // namespace parity
