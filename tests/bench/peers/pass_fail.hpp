// A suite as a test framework sees it: a test passes or fails by its tolerance, crash or time-out,
// and nothing else is known of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/bench/peers/detector.hpp"

namespace parity {

enum class Sight : std::uint8_t { passed, failed, not_run };

class PassFail {
 public:
  explicit PassFail(Lab& lab) : lab_(lab) {}

  /// One process; a sight for each case of the order.
  std::vector<Sight> run(const Order& order);
  /// The victim after the history, in one process.
  Sight last(const Order& history, std::size_t victim);
  bool fails(const Order& history, std::size_t victim) {
    return last(history, victim) == Sight::failed;
  }

  /// All cases; equal for equal seeds and rounds.
  Order shuffled(std::size_t round) const;
  /// Whether another round of all cases fits into the budget.
  bool another_round() const { return lab_.meter.left() >= lab_.cases.size(); }

 private:
  Lab& lab_;
};

/// Positions of what failed.
std::vector<std::size_t> failures(const std::vector<Sight>& sights);

/// The first `position` cases of the order.
Order before(const Order& order, std::size_t position);

}  // namespace parity
