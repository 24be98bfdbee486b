// Order or chance: how likely is it that what an order showed has nothing to do with the order?
#pragma once

#include <cstddef>

#include "harness/finding.hpp"

namespace parity {

/// Fisher's exact test, one-sided: the chance of seeing all hits in the order and none in
/// `alone_runs` runs alone, if both had one rate.
double chance_of_no_hit_alone(const Rate& in_order, std::size_t alone_runs);

/// Whether an order that showed it in some runs only, against none alone, is told from chance: at
/// most once in a thousand by accident.
bool told_from_chance(const Rate& in_order, std::size_t alone_runs);

}  // namespace parity
