// The judge's word cut down to pass and fail.
#include "tests/bench/peers/pass_fail.hpp"

#include <utility>

#include "harness/symptom.hpp"

namespace parity {

std::vector<Sight> PassFail::run(const Order& order) {
  const Sequence sequence = Sequence::of(order);
  const std::vector<SequenceResult> results = lab_.meter.execute({&sequence, 1});
  std::vector<Sight> sights;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Outcome& outcome = results.front().outcomes[i];
    if (outcome.status == Status::not_run)
      sights.push_back(Sight::not_run);
    else
      sights.push_back(is_bad(lab_.judge.judge(order[i], outcome).verdict) ? Sight::failed
                                                                           : Sight::passed);
  }
  return sights;
}

Sight PassFail::last(const Order& history, std::size_t victim) {
  Order order = history;
  order.push_back(victim);
  return run(order).back();
}

Order PassFail::shuffled(std::size_t round) const {
  constexpr std::uint64_t kMostRounds = 1u << 20;
  return random_orders(lab_.cases.size(), 1, lab_.seed * kMostRounds + round + 1).front();
}

std::vector<std::size_t> failures(const std::vector<Sight>& sights) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < sights.size(); ++i)
    if (sights[i] == Sight::failed) positions.push_back(i);
  return positions;
}

Order before(const Order& order, std::size_t position) {
  return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(position)};
}

}  // namespace parity
