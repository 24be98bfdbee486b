#include "harness/chance.hpp"

namespace parity {

double chance_of_no_hit_alone(const Rate& in_order, std::size_t alone_runs) {
  double chance = 1;
  for (std::size_t i = 0; i < in_order.hits; ++i)
    chance *= static_cast<double>(in_order.runs - i) /
              static_cast<double>(in_order.runs + alone_runs - i);
  return chance;
}

bool told_from_chance(const Rate& in_order, std::size_t alone_runs) {
  constexpr double kAccepted = 0.001;
  return chance_of_no_hit_alone(in_order, alone_runs) <= kAccepted;
}

}  // namespace parity
