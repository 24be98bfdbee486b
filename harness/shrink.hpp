// Shrinks a failing order to the shortest sequence that was seen to fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "harness/orders.hpp"

namespace parity {

/// What one trial of "this history, then the victim" showed. unresolved: neither the fixed symptom
/// nor a well victim (another symptom, a process that died early); it never counts as failing.
enum class Trial : std::uint8_t { fails, passes, unresolved };

struct ShrinkRequest {
  Order history;                      ///< what ran before the victim, the victim not in it
  std::vector<std::size_t> suspects;  ///< single polluters to try first, likeliest first
  /// Cases that ran before every failure seen, if there were several: what is required is among
  /// them, so they are tried together after the suspects.
  std::vector<std::size_t> common;
  /// How often those would have failed, by what was seen: a suspect is tried as often as a pass
  /// needs to be believed. In (0, 1].
  double rate = 1;
  /// Runs history + victim in a fresh process: does it fail with the fixed fingerprint?
  std::function<Trial(const Order&)> trial;
  /// Tries that a history which does not fail at once gets, and from which its rate is estimated.
  std::size_t attempts = 5;
};

struct ShrinkResult {
  Order history;  ///< 1-minimal when reproduced; else the shortest seen, here or before
  std::size_t trials = 0;
  std::size_t executions = 0;  ///< case runs of all trials, the victim's included: the cost
  bool reproduced = false;     ///< false: nothing failed again, not even the full history
};

/// Tries [suspect], [predecessor], `common`, then cuts under the assumption of one polluter (one
/// trial a level). Where that leads nowhere, the history must fail again; then it is cut into
/// blocks of which each holds something needed, the largest is halved until all are single cases,
/// and a sweep leaves out what still can be. Only histories seen to fail are accepted. Where one
/// that failed passes, its rate is estimated and a pass is repeated from then on. The victim alone
/// is taken to pass: the caller knows.
ShrinkResult shrink(const ShrinkRequest& request);

}  // namespace parity
