// Runs orders in waves: what a crash voided is queued again, each time shorter, until nothing is
// left.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "harness/orders.hpp"
#include "harness/supervisor.hpp"

namespace parity {
namespace {

/// Position of the step that ended the process; the number of steps where none did.
std::size_t end_of(const SequenceResult& result) {
  const auto ended = std::ranges::find_if(result.outcomes, ends_process);
  return static_cast<std::size_t>(ended - result.outcomes.begin());
}

/// `order` from position `begin` on, without quarantined cases.
Order tail_of(const Order& order, std::size_t begin, const std::set<std::size_t>& quarantined) {
  Order tail;
  for (std::size_t i = begin; i < order.size(); ++i) {
    if (quarantined.count(order[i]) == 0) tail.push_back(order[i]);
  }
  return tail;
}

/// Where the tail begins when the process ended at position `end`: with the case that ended it, so
/// that this one is seen alone and its neighbours are not lost. In a group nobody knows which it
/// was, and each has been seen alone: behind the group.
std::size_t resume_at(const Sequence& sequence, std::size_t end) {
  for (const StepGroup& group : sequence.groups())
    if (group.begin == end) return group.size() == 1 ? end : group.end;
  return end;
}

/// Each case of the orders once, in index order.
std::vector<Order> one_by_one(std::span<const Order> orders) {
  std::set<std::size_t> cases;
  for (const Order& order : orders) cases.insert(order.begin(), order.end());
  std::vector<Order> alone;
  for (const std::size_t c : cases) alone.push_back({c});
  return alone;
}

}  // namespace

OrdersRun run_orders(std::span<const std::vector<std::size_t>> orders, Executor& executor) {
  OrdersRun run;
  std::set<std::size_t> quarantined;
  std::vector<Order> wave(orders.begin(), orders.end());
  std::vector<Order> planned;
  if (executor.threads() > 1) planned = std::exchange(wave, one_by_one(orders));
  // A tail is shorter than its order: one that ended at its first position loses that case.
  while (!wave.empty()) {
    std::vector<Sequence> sequences;
    for (const Order& order : wave) {
      const auto phase = static_cast<unsigned>((run.sequences.size() + sequences.size()) % 2);
      sequences.push_back(Sequence::of(order, phase, executor.threads()));
    }
    std::vector<SequenceResult> results = executor.execute(sequences);
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < wave.size(); ++i) {
      ends.push_back(end_of(results[i]));
      if (ends[i] == 0 && !wave[i].empty() && sequences[i].groups().front().size() == 1)
        quarantined.insert(wave[i].front());
    }
    std::vector<Order> tails;
    for (std::size_t i = 0; i < wave.size(); ++i) {
      Order tail = tail_of(wave[i], resume_at(sequences[i], ends[i]), quarantined);
      if (!tail.empty()) tails.push_back(std::move(tail));
    }
    for (const Order& order : std::exchange(planned, {}))
      if (Order rest = tail_of(order, 0, quarantined); !rest.empty())
        tails.push_back(std::move(rest));
    std::move(sequences.begin(), sequences.end(), std::back_inserter(run.sequences));
    std::move(results.begin(), results.end(), std::back_inserter(run.results));
    wave = std::move(tails);
  }
  run.quarantined.assign(quarantined.begin(), quarantined.end());
  return run;
}

}  // namespace parity
