// What runs after the plan follows from what the plan showed, so equal results give equal stages.
#include "harness/schedule.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "datasets/digest.hpp"

namespace parity {
namespace {

/// Memory holds every outcome until the report.
constexpr std::size_t kMostRandomRuns = std::size_t{1} << 18;
/// Random orders that start together.
constexpr std::size_t kBatch = 8;

using CellName = std::pair<std::string, std::string>;

/// What one case does with the cells it touches.
struct Touched {
  std::set<CellName> wrote;
  std::map<CellName, std::set<std::string>> used_for;
};

std::vector<Touched> touched(std::size_t cases, std::span<const Sequence> sequences,
                             std::span<const SequenceResult> results) {
  std::vector<Touched> all(cases);
  for (std::size_t s = 0; s < sequences.size(); ++s)
    for (std::size_t i = 0; i < sequences[s].steps.size(); ++i)
      for (const CellSeen& seen : results[s].outcomes[i].cells) {
        Touched& one = all.at(sequences[s].steps[i].case_index);
        if (seen.wrote) one.wrote.emplace(seen.carrier, seen.cell);
        one.used_for[{seen.carrier, seen.cell}].insert(seen.used_for);
      }
  return all;
}

enum class Suspect { none, shares, differs };

Suspect suspect(const Touched& a, const Touched& b) {
  Suspect found = Suspect::none;
  for (const CellName& cell : a.wrote) {
    const auto used = b.used_for.find(cell);
    if (used == b.used_for.end()) continue;
    if (used->second != a.used_for.at(cell)) return Suspect::differs;
    found = Suspect::shares;
  }
  return found;
}

class Stages {
 public:
  Stages(std::span<const Case> cases, const Plan& plan, const ScheduleOptions& options,
         Executor& executor)
      : cases_(cases),
        plan_(plan),
        options_(options),
        executor_(executor),
        done_{{}, plan.ledger(executor.threads()), false} {}

  ScheduleRun run() {
    add(run_orders(plan_.orders, executor_));
    const bool permuted = options_.permute != Permute::none && executor_.threads() == 1;
    if (permuted && nothing_left()) add(run_orders(suspects(), executor_));
    done_.whole = nothing_left();
    // The limit first: what a batch is made of is planned from then on.
    while (permuted && options_.lasts && random_runs_ < kMostRandomRuns) {
      if (done_.out_of_time = !goes_on(); done_.out_of_time) break;
      const std::vector<Order> orders = random_batch(done_.random_batches);
      if (orders.empty()) break;
      ++done_.random_batches;
      add(run_orders(orders, executor_));
    }
    return std::move(done_);
  }

 private:
  bool goes_on() const { return !executor_.stopped() && options_.lasts(); }

  /// Every sequence so far was at least begun: only a stop keeps one from it.
  bool nothing_left() const {
    return std::ranges::none_of(
        done_.run.results, [](const SequenceResult& result) { return result.completed() == 0; });
  }

  void add(OrdersRun more) {
    enter(done_.ledger, more.sequences, more.results);
    std::ranges::move(more.sequences, std::back_inserter(done_.run.sequences));
    std::ranges::move(more.results, std::back_inserter(done_.run.results));
    quarantined_.insert(more.quarantined.begin(), more.quarantined.end());
    done_.run.quarantined.assign(quarantined_.begin(), quarantined_.end());
  }

  std::vector<Order> suspects() {
    const bool all = static_cast<bool>(options_.lasts);
    std::vector<Order> orders;
    for (const auto& [a, b] : suspect_pairs(done_.ledger.missing(), cases_, done_.run.sequences,
                                            done_.run.results, all)) {
      if (quarantined_.count(a) + quarantined_.count(b) > 0) continue;
      orders.push_back({a, b});
      done_.ledger.plan(orders.back());
    }
    return orders;
  }

  std::vector<Order> random_batch(std::size_t batch) {
    const std::string name = std::to_string(options_.seed) + "/budget/" + std::to_string(batch);
    std::vector<Order> orders =
        make_plan(cases_, options_.permute, {false, kBatch}, stable_hash(name)).orders;
    for (Order& order : orders) {
      std::erase_if(order, [this](std::size_t c) { return quarantined_.count(c) > 0; });
      random_runs_ += order.size();
      done_.ledger.plan(order);
    }
    std::erase_if(orders, [](const Order& order) { return order.size() < 2; });
    return orders;
  }

  std::span<const Case> cases_;
  const Plan& plan_;
  const ScheduleOptions& options_;
  Executor& executor_;
  ScheduleRun done_;
  std::set<std::size_t> quarantined_;
  std::size_t random_runs_ = 0;
};

}  // namespace

std::vector<Pair> suspect_pairs(const std::vector<Pair>& pairs, std::span<const Case> cases,
                                std::span<const Sequence> sequences,
                                std::span<const SequenceResult> results, bool all) {
  const std::vector<Touched> cells = touched(cases.size(), sequences, results);
  std::vector<Pair> differing;
  std::vector<Pair> sharing;
  for (const Pair& pair : pairs) {
    const Suspect found = suspect(cells.at(pair.first), cells.at(pair.second));
    if (found == Suspect::differs) differing.push_back(pair);
    if (found == Suspect::shares) sharing.push_back(pair);
  }
  std::ranges::stable_sort(differing, {}, [&](const Pair& pair) {
    return distance(cases[pair.first], cases[pair.second]);
  });
  if (all) differing.insert(differing.end(), sharing.begin(), sharing.end());
  return differing;
}

ScheduleRun run_schedule(std::span<const Case> cases, const Plan& plan,
                         const ScheduleOptions& options, Executor& executor) {
  return Stages(cases, plan, options, executor).run();
}

}  // namespace parity
