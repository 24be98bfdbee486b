// Cells as explanations of what victims showed.
#include "harness/cluster.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>

namespace parity {
namespace {

constexpr std::size_t kMostSuspects = 4;

class Explainer {
 public:
  Explainer(std::span<const Case> cases, const Evidence& evidence, Trials& trials)
      : evidence_(evidence), trials_(trials) {
    for (std::size_t i = 0; i < cases.size(); ++i) index_of_.emplace(cases[i].id(), i);
  }

  void add(std::size_t victim, Explanation& explanation) const {
    std::vector<Shown> rest;
    std::vector<Sighting> well;
    for (const Sighting& sighting : evidence_.of(victim)) {
      const Symptom symptom = trials_.symptom(victim, *sighting.outcome);
      if (symptom.fingerprint == Fingerprint::none) {
        well.push_back(sighting);
        continue;
      }
      Shown shown{sighting, symptom.fingerprint, 0};
      if (const auto cell = misused_cell(shown))
        explanation.clusters[*cell][victim].push_back(shown);
      else
        rest.push_back(shown);
    }
    if (rest.empty()) return;
    if (const auto cell = cell_of_other_writers(rest, well)) {
      std::vector<Shown>& runs = explanation.clusters[*cell][victim];
      runs.insert(runs.end(), rest.begin(), rest.end());
    } else {
      explanation.unexplained[victim] = rest;
    }
  }

 private:
  std::optional<std::size_t> writer_of(const CellSeen& cell) const {
    const auto known = index_of_.find(cell.writer);
    if (known == index_of_.end()) return std::nullopt;
    return known->second;
  }

  std::vector<CellSeen> cells(const Sighting& sighting) const {
    return evidence_.cells(sighting, trials_.alone(sighting.case_index));
  }

  /// Fills in the writer when such a cell exists.
  std::optional<CellName> misused_cell(Shown& shown) const {
    for (const CellSeen& cell : cells(shown.sighting)) {
      const std::optional<std::size_t> writer = writer_of(cell);
      if (cell.built_for == cell.used_for || !writer) continue;
      shown.writer = *writer;
      return CellName{cell.carrier, cell.cell};
    }
    return std::nullopt;
  }

  /// The writer of the named cell, where the run itself did not write it.
  std::optional<std::size_t> foreign_writer(const Sighting& sighting, const CellName& name) const {
    for (const CellSeen& cell : cells(sighting)) {
      if (cell.wrote || cell.carrier != name.carrier || cell.cell != name.cell) continue;
      const std::optional<std::size_t> writer = writer_of(cell);
      if (writer && *writer != sighting.case_index) return writer;
    }
    return std::nullopt;
  }

  /// Fills in the writers when such a cell exists.
  std::optional<CellName> cell_of_other_writers(std::vector<Shown>& shown,
                                                const std::vector<Sighting>& well) const {
    for (const CellSeen& cell : cells(shown.front().sighting)) {
      const CellName name{cell.carrier, cell.cell};
      std::set<std::size_t> writers;
      std::vector<Shown> with_writers = shown;
      const bool always = std::all_of(with_writers.begin(), with_writers.end(), [&](Shown& one) {
        const std::optional<std::size_t> writer = foreign_writer(one.sighting, name);
        if (writer) writers.insert(one.writer = *writer);
        return writer.has_value();
      });
      const bool harmless = std::any_of(well.begin(), well.end(), [&](const Sighting& sighting) {
        const std::optional<std::size_t> writer = foreign_writer(sighting, name);
        return writer && writers.count(*writer) > 0;
      });
      if (!always || harmless) continue;
      shown = std::move(with_writers);
      return name;
    }
    return std::nullopt;
  }

  const Evidence& evidence_;
  Trials& trials_;
  std::map<std::string, std::size_t> index_of_;
};

}  // namespace

Explanation explain(std::span<const Case> cases, const std::vector<std::size_t>& victims,
                    const Evidence& evidence, Trials& trials) {
  Explanation explanation;
  const Explainer explainer(cases, evidence, trials);
  for (std::size_t victim : victims) explainer.add(victim, explanation);
  return explanation;
}

Shown most_telling(std::span<const Case> cases, const CellVictims& victims) {
  const auto rank = [&](const Shown& shown) {
    const std::size_t victim = shown.sighting.case_index;
    return std::tuple(distance(cases[shown.writer], cases[victim]),
                      shown.fingerprint == Fingerprint::bits, shown.writer, victim,
                      shown.sighting.plan_order());
  };
  const Shown* best = nullptr;
  for (const auto& [victim, runs] : victims)
    for (const Shown& shown : runs)
      if (best == nullptr || rank(shown) < rank(*best)) best = &shown;
  return *best;
}

std::vector<std::size_t> cell_suspects(std::span<const Case> cases, const CellVictims& victims,
                                       std::size_t victim, std::size_t first,
                                       const std::vector<std::size_t>& sharing) {
  std::vector<std::size_t> writers;
  for (const Shown& shown : victims.at(victim)) writers.push_back(shown.writer);
  std::vector<std::size_t> suspects = {first};
  const auto add = [&](const std::vector<std::size_t>& more) {
    for (std::size_t c : more)
      if (suspects.size() < kMostSuspects && c != victim &&
          std::find(suspects.begin(), suspects.end(), c) == suspects.end())
        suspects.push_back(c);
  };
  add(nearest_first(cases, victim, writers));
  add(nearest_first(cases, victim, sharing));
  return suspects;
}

std::vector<std::size_t> nearest_first(std::span<const Case> cases, std::size_t to,
                                       std::vector<std::size_t> candidates) {
  std::vector<std::pair<int, std::size_t>> ranked;
  for (std::size_t c : candidates) ranked.emplace_back(distance(cases[c], cases[to]), c);
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  candidates.clear();
  for (const auto& [apart, c] : ranked) candidates.push_back(c);
  return candidates;
}

}  // namespace parity
