// Orders to sequences with the asked poison, and back.
#include "harness/trials.hpp"

#include <utility>

namespace parity {

std::vector<TrialRun> Trials::run(const std::vector<TrialOrder>& orders) {
  std::vector<Sequence> sequences;
  for (const TrialOrder& trial : orders) {
    const auto last = static_cast<unsigned>((trial.order.size() - 1) % 2);
    sequences.push_back(
        Sequence::of(trial.order, (trial.last_poison + last) % 2, executor_.threads()));
    sequences.back().patience = trial.patience;
  }
  if (sequences.empty()) return {};
  std::vector<SequenceResult> results = executor_.execute(sequences);
  std::vector<TrialRun> runs;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    TrialRun run;
    run.outcomes = std::move(results.at(i).outcomes);
    run.outcomes.resize(orders[i].order.size());
    for (const std::size_t copy : sequences[i].last_copies()) {
      const Symptom shown = symptom(orders[i].order.back(), run.outcomes[copy]);
      const bool odd = shown.fingerprint != Fingerprint::none;
      if (odd) std::swap(run.outcomes[copy], run.outcomes.back());
      if (odd || copy + 1 == run.outcomes.size()) run.symptom = shown;
      if (odd) break;
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

Symptom Trials::symptom(std::size_t case_index, const Outcome& outcome) {
  return symptom(case_index, outcome, alone(case_index));
}

Symptom Trials::symptom(std::size_t case_index, const Outcome& outcome, const Outcome* usual) {
  return symptom_of(judge_.judge(case_index, outcome), outcome, usual,
                    judge_.noise_permitted(case_index));
}

std::string Trials::first_difference(std::size_t case_index, const Outcome& outcome) const {
  const Outcome* usual = alone(case_index);
  return usual == nullptr ? "" : judge_.first_difference(case_index, outcome, *usual);
}

}  // namespace parity
