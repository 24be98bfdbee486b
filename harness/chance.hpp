// Order or chance: how likely is it that what an order showed has nothing to do with the order, and
// how many runs tell?
#pragma once

#include <cstddef>

#include "harness/finding.hpp"

namespace parity {

/// Runs of an order that does not show it every time, and the most of them; the rarer it is, the
/// more runs alone tell it from chance.
constexpr std::size_t kManyRuns = 20;
constexpr std::size_t kMostRunsInOrder = 60;
constexpr std::size_t kMostRunsAlone = 100;
/// Fewest runs of each that tell all from none.
constexpr std::size_t kFewestTellingRuns = 7;

/// Fisher's exact test, one-sided: the chance of seeing all hits in the order and none in
/// `alone_runs` runs alone, if both had one rate.
double chance_of_no_hit_alone(const Rate& in_order, std::size_t alone_runs);

/// Whether an order that showed it in some runs only, against none alone, is told from chance: at
/// most once in a thousand by accident.
bool told_from_chance(const Rate& in_order, std::size_t alone_runs);

/// Runs of the order, those of `in_order` included, before the victim is run alone up to
/// `most_alone` times.
std::size_t order_runs_wanted(const Rate& in_order, std::size_t most_alone);

/// Fewest runs alone, of which none shows it, that tell the order from chance; kMostRunsAlone where
/// none do.
std::size_t alone_runs_wanted(const Rate& in_order);

}  // namespace parity
