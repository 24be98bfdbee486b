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

std::size_t order_runs_wanted(const Rate& in_order, std::size_t most_alone) {
  if (in_order.runs < kManyRuns) return kManyRuns;
  if (in_order.runs >= kMostRunsInOrder || told_from_chance(in_order, most_alone))
    return in_order.runs;
  return kMostRunsInOrder;
}

std::size_t alone_runs_wanted(const Rate& in_order) {
  std::size_t runs = 0;
  while (runs < kMostRunsAlone && !told_from_chance(in_order, runs)) ++runs;
  return runs;
}

}  // namespace parity
