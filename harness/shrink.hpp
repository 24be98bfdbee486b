// Shrinks a failing order to the shortest sequence that was seen to fail (ORDERS.md, Shrinking).
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "harness/orders.hpp"

namespace parity {

/// What one trial of "this history, then the victim" showed.
enum class Trial : std::uint8_t { fails, passes, unresolved };

struct ShrinkRequest {
  Order history;                          ///< what ran before the victim, the victim not in it
  std::vector<std::size_t> suspects;      ///< probes' writers of the cells the victim read, likeliest first
  /// Runs history + victim in a fresh process: does it fail with the fixed fingerprint?
  std::function<Trial(const Order&)> trial;
};

struct ShrinkResult {
  Order history;            ///< 1-minimal: no single case can be left out
  std::size_t trials = 0;
  bool reproduced = false;  ///< false: the full history itself did not fail again
};

/// Tries [suspect], [predecessor], then halves; where both halves pass, prefix search; then a sweep.
ShrinkResult shrink(const ShrinkRequest& request);

}  // namespace parity
