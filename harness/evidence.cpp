// Indexes the plan's results by case; nothing is judged here.
#include "harness/evidence.hpp"

#include <algorithm>

namespace parity {

Evidence::Evidence(std::size_t cases, std::span<const Sequence> sequences,
                   std::span<const SequenceResult> results)
    : runs_(sequences.size()), sightings_(cases) {
  for (std::size_t s = 0; s < sequences.size() && s < results.size(); ++s) {
    const std::vector<Step>& steps = sequences[s].steps;
    const std::vector<Outcome>& outcomes = results[s].outcomes;
    for (const StepGroup& group : sequences[s].groups()) {
      if (steps[group.begin].kind != Step::Kind::run) continue;
      const std::size_t end = runs_[s].size() + group.size();
      for (std::size_t i = group.begin; i < group.end && i < outcomes.size(); ++i) {
        const std::size_t run = runs_[s].size();
        runs_[s].push_back({steps[i].case_index, &outcomes[i]});
        const auto poison = static_cast<unsigned>((i + sequences[s].poison_phase) % 2);
        if (outcomes[i].status != Status::not_run)
          sightings_.at(steps[i].case_index)
              .push_back({steps[i].case_index, s, end - 1, poison, &outcomes[i], run});
      }
    }
  }
}

std::vector<Evidence::Run> Evidence::runs_with(const Sighting& sighting) const {
  const std::vector<Run>& all = runs_.at(sighting.sequence);
  std::vector<Run> runs;
  for (std::size_t i = 0; i <= sighting.position && i < all.size(); ++i)
    if (i != sighting.run) runs.push_back(all[i]);
  return runs;
}

Order Evidence::history(const Sighting& sighting) const {
  Order history;
  for (const Run& run : runs_with(sighting)) history.push_back(run.case_index);
  return history;
}

std::vector<Sighting> Evidence::company(const Sighting& sighting) const {
  std::vector<Sighting> company;
  for (const std::vector<Sighting>& sightings : sightings_)
    for (const Sighting& other : sightings)
      if (other.sequence == sighting.sequence && other.position == sighting.position &&
          other.run != sighting.run)
        company.push_back(other);
  std::ranges::sort(company, {}, &Sighting::run);
  return company;
}

std::vector<CellSeen> Evidence::cells(const Sighting& sighting, const Outcome* alone) const {
  std::vector<const Outcome*> outcomes;
  for (const Run& run : runs_with(sighting)) outcomes.push_back(run.outcome);
  outcomes.push_back(sighting.outcome);
  return cells_of(outcomes, alone);
}

std::vector<std::size_t> Evidence::sharing(const std::string& carrier,
                                           const std::string& cell) const {
  std::vector<std::size_t> cases;
  for (std::size_t c = 0; c < sightings_.size(); ++c) {
    const bool touches =
        std::any_of(sightings_[c].begin(), sightings_[c].end(), [&](const Sighting& sighting) {
          const std::vector<CellSeen>& cells = sighting.outcome->cells;
          return std::any_of(cells.begin(), cells.end(), [&](const CellSeen& seen) {
            return seen.carrier == carrier && seen.cell == cell;
          });
        });
    if (touches) cases.push_back(c);
  }
  return cases;
}

std::vector<CellSeen> cells_of(const std::vector<const Outcome*>& outcomes, const Outcome* alone) {
  const Outcome& last = *outcomes.back();
  if (!last.cells.empty() || last.status == Status::ok || alone == nullptr) return last.cells;
  std::vector<CellSeen> cells;
  for (const CellSeen& own : alone->cells) {
    const auto same = [&own](const CellSeen& seen) {
      return seen.carrier == own.carrier && seen.cell == own.cell;
    };
    for (std::size_t i = outcomes.size() - 1; i-- > 0;) {
      const std::vector<CellSeen>& earlier = outcomes[i]->cells;
      const auto seen = std::find_if(earlier.begin(), earlier.end(), same);
      if (seen == earlier.end()) continue;
      CellSeen inferred = *seen;
      inferred.wrote = false;
      inferred.used_for = own.used_for;
      cells.push_back(std::move(inferred));
      break;
    }
  }
  return cells;
}

}  // namespace parity
