// Counts of both sides, and as many more runs as they ask for.
#include "harness/confirmation.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "harness/chance.hpp"

namespace parity {
namespace {

class Confirming {
 public:
  Confirming(const Suspicion& suspicion, const Order& history, Trials& trials)
      : suspicion_(suspicion),
        history_(history),
        trials_(trials),
        in_turn_(machine_may_show(suspicion.fingerprint)) {
    if (ends_process(suspicion.fingerprint)) {
      Order order = history;
      order.push_back(suspicion.victim);
      company_ = Sequence::of(order, 0, trials.executor().threads()).company();
    }
    done_.symptom = trials.symptom(suspicion.victim, *suspicion.sighting.outcome);
    done_.outcome = *suspicion.sighting.outcome;
  }

  Confirmation run(std::size_t confirmations) {
    run_order_to(in_turn_ ? std::max(confirmations, kFewestTellingRuns) : confirmations);
    done_.by_chance = chance_explains();
    return std::move(done_);
  }

 private:
  enum class Whose : std::uint8_t { order, victim, company };

  bool brittle() const { return suspicion_.role == Role::brittle; }

  /// A stop leaves what ran until then.
  bool always() const {
    const Rate& seen = done_.reproduced;
    return seen.hits > 0 && seen.hits == seen.runs &&
           (seen.runs == in_order_ || trials_.executor().stopped());
  }

  /// Only runs made for this count: that the earlier ones alone showed nothing is why the order was
  /// suspected.
  bool chance_explains() {
    if (always() && !brittle() && !in_turn_ && !machine_hit_) return false;
    while (!always()) {
      const std::size_t wanted = order_runs_wanted({done_.reproduced.hits, in_order_},
                                                   in_turn_ ? in_order_ : kMostRunsAlone);
      if (wanted <= in_order_ || shown_alone_) break;
      run_order_to(wanted);
      if (done_.reproduced.hits == 0) return true;
    }
    if (shown_alone_ || done_.reproduced.hits == 0) return true;
    if (!in_turn_ || brittle()) {
      const std::size_t wanted = std::max(kManyRuns, alone_runs_wanted(done_.reproduced));
      run(0, wanted - std::min(wanted, alone_));
    }
    const std::size_t runs_alone =
        in_turn_ ? std::min(done_.alone.runs, done_.reproduced.runs) : done_.alone.runs;
    return shown_alone_ || !told_from_chance(done_.reproduced, runs_alone);
  }

  void run_order_to(std::size_t total) {
    const std::size_t more = total - in_order_;
    run(more, in_turn_ ? more : 0);
  }

  /// In turn, so that what ends processes for a while meets both alike. What ends a process of
  /// several may be any of them: each is run as often as the victim alone.
  void run(std::size_t in_order, std::size_t alone) {
    std::vector<TrialOrder> orders;
    std::vector<Whose> whose;
    for (std::size_t i = 0; i < std::max(in_order, alone); ++i) {
      if (i < in_order) {
        const auto poison = suspicion_.sighting.poison + static_cast<unsigned>(in_order_++);
        orders.push_back({history_, poison % 2, brittle() ? 1 : kTwiceTheLimit});
        orders.back().order.push_back(suspicion_.victim);
        whose.push_back(Whose::order);
      }
      if (i < alone) {
        orders.push_back({{suspicion_.victim},
                          static_cast<unsigned>(alone_++ % 2),
                          brittle() ? kTwiceTheLimit * trials_.executor().threads() : 1});
        whose.push_back(Whose::victim);
        for (const std::size_t other : company_) {
          orders.push_back({{other}, orders.back().last_poison});
          whose.push_back(Whose::company);
        }
      }
    }
    const std::vector<TrialRun> runs = trials_.run(orders);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!runs[i].symptom.ran) continue;
      if (whose[i] == Whose::order) count_in_order(runs[i]);
      if (whose[i] == Whose::victim) count_alone(runs[i].symptom);
      if (whose[i] == Whose::company)
        shown_alone_ = shown_alone_ || ends_process(runs[i].symptom.fingerprint);
    }
  }

  void count_in_order(const TrialRun& run) {
    Rate& seen = done_.reproduced;
    ++seen.runs;
    if (!diverged(suspicion_, run.symptom)) return;
    machine_hit_ = machine_hit_ || machine_may_show(run.symptom.fingerprint);
    const bool suspected = read(suspicion_, run.symptom) == Trial::fails;
    if (++seen.hits > 1 && (!suspected || suspected_seen_)) return;
    suspected_seen_ = suspected;
    done_.symptom = run.symptom;
    done_.outcome = run.last();
    std::vector<const Outcome*> outcomes;
    for (const Outcome& outcome : run.outcomes) outcomes.push_back(&outcome);
    done_.outcome.cells = cells_of(outcomes, trials_.alone(suspicion_.victim));
  }

  /// A brittle case that is well alone has other bits than its usual, wrong, ones.
  void count_alone(const Symptom& symptom) {
    const bool bad = brittle() ? symptom.judgement.verdict != Verdict::passed
                               : symptom.fingerprint != Fingerprint::none;
    ++done_.alone.runs;
    done_.alone.hits += bad ? 1 : 0;
    shown_alone_ = shown_alone_ || bad != brittle();
  }

  const Suspicion& suspicion_;
  const Order& history_;
  Trials& trials_;
  const bool in_turn_;
  std::vector<std::size_t> company_;  ///< of the victim, where a process ended
  Confirmation done_;
  std::size_t in_order_ = 0;  ///< asked for so far
  std::size_t alone_ = 0;
  bool suspected_seen_ = false;
  bool machine_hit_ = false;
  bool shown_alone_ = false;
};

}  // namespace

Confirmation confirm(const Suspicion& suspicion, const Order& history, Trials& trials,
                     std::size_t confirmations) {
  return Confirming(suspicion, history, trials).run(confirmations);
}

}  // namespace parity
