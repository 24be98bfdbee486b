// A found order against its victim alone, in fresh processes: how often, and is it the order?
#pragma once

#include <cstddef>

#include "harness/finding.hpp"
#include "harness/orders.hpp"
#include "harness/outcome.hpp"
#include "harness/suspicion.hpp"
#include "harness/trials.hpp"

namespace parity {

struct Confirmation {
  Rate reproduced;  ///< of the order: runs in which the victim diverged, whatever it showed
  Rate alone;       ///< bad results of the victim, in runs made for this
  /// Of the first run that diverged in the suspected way, else of the first that diverged, else of
  /// the suspicion.
  Symptom symptom;
  Outcome outcome;
  bool by_chance = false;  ///< chance explains it as well as the order does
};

/// Runs the order `confirmations` times. Where it does not show it every time, order and victim
/// alone run more often. Where a machine that is starved of time or memory may show the same, they
/// run in turn, and only as many runs alone count as there are of the order. Brittle cases are run
/// alone again in any case: one that goes wrong often, and not by its order, is well a few times in
/// a row now and then.
Confirmation confirm(const Suspicion& suspicion, const Order& history, Trials& trials,
                     std::size_t confirmations);

}  // namespace parity
