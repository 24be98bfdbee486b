// Suspects from the victim's cells, then two causal tests each, with what the worker is able to do.
#include "harness/attribute.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace parity {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Suspect {
  CellSeen cell;
  bool probed = false;  ///< false: only the carrier is known, nobody saw the cell
  std::optional<bool> necessary;
  std::optional<bool> sufficient;
  std::optional<std::string> state;  ///< as the history left the carrier
};

/// One a carrier: a cell used for what it was not built for, else one that this run did not write
/// itself, so the history did; last the carriers that can be restored though no probe saw them.
std::vector<Suspect> suspects_of(const Outcome& outcome, const CarrierAbilities& abilities) {
  std::vector<Suspect> suspects;
  const auto add = [&suspects](const CellSeen& cell, bool probed) {
    const auto known = std::find_if(suspects.begin(), suspects.end(), [&](const Suspect& suspect) {
      return suspect.cell.carrier == cell.carrier;
    });
    if (known == suspects.end()) suspects.push_back({cell, probed, {}, {}, {}});
  };
  for (const CellSeen& cell : outcome.cells)
    if (cell.built_for != cell.used_for) add(cell, true);
  for (const CellSeen& cell : outcome.cells)
    if (!cell.wrote) add(cell, true);
  for (const std::string& carrier : abilities.restore) {
    CellSeen unseen;
    unseen.carrier = carrier;
    add(unseen, false);
  }
  return suspects;
}

class CausalTests {
 public:
  CausalTests(const Order& history, std::size_t victim, Executor& executor,
              const std::function<bool(const Outcome&)>& is_baseline, std::size_t repeats)
      : history_(history),
        victim_(victim),
        executor_(executor),
        is_baseline_(is_baseline),
        repeats_(std::max<std::size_t>(repeats, 1)) {}

  /// The history and the victim one after the other: is the victim as alone?
  bool needs_company() const {
    std::vector<Sequence> sequences;
    Order order = history_;
    order.push_back(victim_);
    for (std::size_t i = 0; i < repeats_; ++i)
      sequences.push_back(Sequence::of(order, static_cast<unsigned>(i % 2)));
    const std::vector<SequenceResult> results = executor_.execute(sequences);
    return std::ranges::all_of(results, [this](const SequenceResult& result) {
      return is_baseline_(result.outcomes.back());
    });
  }

  /// Restores, and takes snapshots for the second test, in one batch of processes.
  void test_necessary(std::vector<Suspect>& suspects) {
    const CarrierAbilities& abilities = executor_.abilities();
    std::vector<Sequence> sequences;
    for (const Suspect& suspect : suspects) {
      const std::string& carrier = suspect.cell.carrier;
      if (has(abilities.restore, carrier)) add_victim_runs(sequences, Step::restore(carrier), true);
      if (has(abilities.set, carrier)) {
        sequences.push_back(Sequence::of(history_));
        sequences.back().steps.push_back(Step::snapshot(carrier));
      }
    }
    if (sequences.empty()) return;
    const std::vector<SequenceResult> results = executor_.execute(sequences);
    std::size_t next = 0;
    for (Suspect& suspect : suspects) {
      if (has(abilities.restore, suspect.cell.carrier)) {
        suspect.necessary = all_baseline(results, next, true);
        next += repeats_;
      }
      if (has(abilities.set, suspect.cell.carrier)) {
        const std::vector<CarrierState>& snapshots = results.at(next++).snapshots;
        if (snapshots.size() == 1) suspect.state = snapshots.front().state;
      }
    }
  }

  void test_sufficient(std::vector<Suspect>& suspects) {
    std::vector<Sequence> sequences;
    std::vector<Suspect*> tested;
    for (Suspect& suspect : suspects) {
      if (!suspect.state || suspect.necessary == false) continue;
      add_victim_runs(sequences, Step::set(suspect.cell.carrier, *suspect.state), false);
      tested.push_back(&suspect);
    }
    if (sequences.empty()) return;
    const std::vector<SequenceResult> results = executor_.execute(sequences);
    for (std::size_t i = 0; i < tested.size(); ++i)
      tested[i]->sufficient = all_baseline(results, i * repeats_, false);
  }

 private:
  void add_victim_runs(std::vector<Sequence>& sequences, const Step& step,
                       bool after_history) const {
    for (std::size_t i = 0; i < repeats_; ++i) {
      Sequence sequence;
      if (after_history) sequence = Sequence::of(history_);
      sequence.poison_phase = static_cast<unsigned>(i % 2);
      sequence.steps.push_back(step);
      sequence.steps.push_back(Step::run(victim_));
      sequences.push_back(std::move(sequence));
    }
  }

  /// Whether the victim's run of each sequence is (want) or is not (!want) the baseline. Nothing is
  /// known when a step before it went wrong or the run was stopped.
  std::optional<bool> all_baseline(const std::vector<SequenceResult>& results, std::size_t first,
                                   bool want) const {
    for (std::size_t i = first; i < first + repeats_; ++i) {
      const std::vector<Outcome>& outcomes = results.at(i).outcomes;
      if (outcomes.size() < 2 || outcomes[outcomes.size() - 2].status != Status::ok ||
          outcomes.back().status == Status::not_run)
        return std::nullopt;
      if (is_baseline_(outcomes.back()) != want) return false;
    }
    return true;
  }

  const Order& history_;
  std::size_t victim_;
  Executor& executor_;
  const std::function<bool(const Outcome&)>& is_baseline_;
  std::size_t repeats_;
};

Grade grade_of(const Suspect& suspect) {
  if (suspect.necessary == false) return Grade::unnamed;
  if (suspect.necessary == true)
    return suspect.sufficient == true ? Grade::confirmed : Grade::necessary;
  return suspect.probed || suspect.sufficient == true ? Grade::correlated : Grade::unnamed;
}

}  // namespace

Attribution attribute(const Order& history, std::size_t victim, const Outcome& victim_outcome,
                      Executor& executor, const std::function<bool(const Outcome&)>& is_baseline,
                      std::size_t repeats) {
  std::vector<Suspect> suspects = suspects_of(victim_outcome, executor.abilities());
  CausalTests tests(history, victim, executor, is_baseline, repeats);
  if (executor.threads() == 1 || !tests.needs_company()) {
    tests.test_necessary(suspects);
    tests.test_sufficient(suspects);
  }

  Attribution best;
  for (const Suspect& suspect : suspects) {
    const Grade grade = grade_of(suspect);
    if (grade >= best.grade) continue;
    const CellSeen& cell = suspect.cell;
    best = {cell.carrier, cell.cell, cell.built_for, cell.used_for, grade};
  }
  return best;
}

}  // namespace parity
