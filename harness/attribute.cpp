// Suspects from the victim's cells, then two causal tests each, with what the worker is able to do,
// until one is confirmed.
#include "harness/attribute.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace parity {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What speaks against a suspect, the strongest first: its cell was used for something else than it
/// was built for; this run read it and did not write it, so the history did; nothing but that the
/// worker can restore the carrier, of which no probe saw a cell.
enum class Ground : std::uint8_t { misused, read, unseen };

struct Suspect {
  CellSeen cell;
  Ground ground;
  std::optional<bool> necessary;
  std::optional<bool> sufficient;
  std::optional<std::string> state;  ///< as the history left the carrier
};

/// One a carrier, by ground, then as the worker gave the cells.
std::vector<Suspect> suspects_of(const Outcome& outcome, const CarrierAbilities& abilities) {
  std::vector<Suspect> suspects;
  const auto add = [&suspects](const CellSeen& cell, Ground ground) {
    const auto known = std::find_if(suspects.begin(), suspects.end(), [&](const Suspect& suspect) {
      return suspect.cell.carrier == cell.carrier;
    });
    if (known == suspects.end()) suspects.push_back({cell, ground, {}, {}, {}});
  };
  for (const CellSeen& cell : outcome.cells)
    if (cell.built_for != cell.used_for) add(cell, Ground::misused);
  for (const CellSeen& cell : outcome.cells)
    if (!cell.wrote) add(cell, Ground::read);
  for (const std::string& carrier : abilities.restore) {
    CellSeen unseen;
    unseen.carrier = carrier;
    add(unseen, Ground::unseen);
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

  /// Acquits carriers whose snapshot after the history is always that of a fresh process. Only
  /// where one can be made from its snapshot is all of it in there.
  void acquit_untouched(std::span<Suspect> suspects) {
    std::vector<Sequence> sequences(1, with_snapshots({}, suspects));
    if (sequences[0].steps.empty()) return;
    sequences.resize(1 + repeats_, with_snapshots(history_, suspects));
    const std::vector<SequenceResult> results = executor_.execute(sequences);
    for (Suspect& suspect : suspects) {
      const std::optional<std::string> fresh = state_in(results[0], suspect);
      bool untouched = fresh.has_value();
      for (const SequenceResult& result : std::span(results).subspan(1)) {
        const std::optional<std::string> left = state_in(result, suspect);
        untouched = untouched && left == fresh;
        if (left && left != fresh) suspect.state = left;
      }
      if (untouched) suspect.necessary = false;
    }
  }

  /// Restores, and takes snapshots for the second test, in one batch of processes.
  void test_necessary(std::span<Suspect> suspects) {
    const CarrierAbilities& abilities = executor_.abilities();
    std::vector<Sequence> sequences;
    std::vector<Suspect*> tested;
    for (Suspect& suspect : suspects) {
      const std::string& carrier = suspect.cell.carrier;
      if (suspect.necessary.has_value() || !has(abilities.restore, carrier)) continue;
      add_victim_runs(sequences, Step::restore(carrier), true);
      tested.push_back(&suspect);
    }
    Sequence snapshots = with_snapshots(history_, suspects);
    if (snapshots.steps.size() > history_.size()) sequences.push_back(std::move(snapshots));
    if (sequences.empty()) return;
    const std::vector<SequenceResult> results = executor_.execute(sequences);
    for (std::size_t i = 0; i < tested.size(); ++i)
      tested[i]->necessary = all_baseline(results, i * repeats_, true);
    for (Suspect& suspect : suspects)
      if (!suspect.state) suspect.state = state_in(results.back(), suspect);
  }

  /// A leak that does not show every time may have stayed away from the few runs after a restore:
  /// what setting does not confirm has to heal the victim more often.
  void test_unconfirmed_again(std::span<Suspect> suspects) {
    bool any = false;
    for (Suspect& suspect : suspects) {
      if (suspect.necessary != true || suspect.sufficient == true) continue;
      suspect.necessary.reset();
      any = true;
    }
    if (!any) return;
    const std::size_t usual = std::exchange(repeats_, 2 * repeats_ + 4);
    test_necessary(suspects);
    repeats_ = usual;
  }

  void test_sufficient(std::span<Suspect> suspects) {
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
  /// The order, then a snapshot of each suspect that is to be set and has no state yet.
  Sequence with_snapshots(const Order& order, std::span<const Suspect> suspects) const {
    Sequence sequence = Sequence::of(order);
    for (const Suspect& suspect : suspects)
      if (suspect.necessary != false && !suspect.state &&
          has(executor_.abilities().set, suspect.cell.carrier))
        sequence.steps.push_back(Step::snapshot(suspect.cell.carrier));
    return sequence;
  }

  static std::optional<std::string> state_in(const SequenceResult& result, const Suspect& suspect) {
    for (const CarrierState& snapshot : result.snapshots)
      if (snapshot.carrier == suspect.cell.carrier) return snapshot.state;
    return std::nullopt;
  }

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
  return suspect.ground != Ground::unseen || suspect.sufficient == true ? Grade::correlated
                                                                        : Grade::unnamed;
}

/// Ground by ground, so that nobody pays for a weak one once a strong one is confirmed.
void try_suspects(std::vector<Suspect>& suspects, CausalTests& tests) {
  for (auto begin = suspects.begin(); begin != suspects.end();) {
    const Ground ground = begin->ground;
    const auto end = std::find_if(begin, suspects.end(),
                                  [&](const Suspect& suspect) { return suspect.ground != ground; });
    const std::span<Suspect> same(begin, end);
    // For one alone it would cost what restoring costs.
    if (ground == Ground::unseen && same.size() > 1) tests.acquit_untouched(same);
    tests.test_necessary(same);
    tests.test_sufficient(same);
    tests.test_unconfirmed_again(same);
    if (std::any_of(begin, end,
                    [](const Suspect& suspect) { return grade_of(suspect) == Grade::confirmed; }))
      return;
    begin = end;
  }
}

}  // namespace

std::size_t causal_repeats(const Rate& rate) {
  constexpr std::size_t kMost = 8;
  if (rate.hits == 0 || rate.hits >= rate.runs) return 1;
  const double misses = 1.0 - static_cast<double>(rate.hits) / static_cast<double>(rate.runs);
  return std::min(static_cast<std::size_t>(std::ceil(std::log(0.01) / std::log(misses))), kMost);
}

Attribution attribute(const Order& history, std::size_t victim, const Outcome& victim_outcome,
                      Executor& executor, const std::function<bool(const Outcome&)>& is_baseline,
                      std::size_t repeats) {
  std::vector<Suspect> suspects = suspects_of(victim_outcome, executor.abilities());
  CausalTests tests(history, victim, executor, is_baseline, repeats);
  if (executor.threads() == 1 || !tests.needs_company()) try_suspects(suspects, tests);

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
