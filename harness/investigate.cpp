// The course of an investigation: who is suspect, what each does alone, what explains the rest.
#include "harness/investigate.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/accusation.hpp"
#include "harness/alone.hpp"
#include "harness/bystander.hpp"
#include "harness/cluster.hpp"
#include "harness/doubt.hpp"
#include "harness/evidence.hpp"
#include "harness/summary.hpp"
#include "harness/trials.hpp"

namespace parity {
namespace {

using Indices = std::vector<std::size_t>;

class Inquiry {
 public:
  Inquiry(std::span<const Case> cases, const Evidence& evidence, Trials& trials,
          const InvestigateOptions& options)
      : cases_(cases),
        evidence_(evidence),
        trials_(trials),
        options_(options),
        accuser_(cases, evidence, trials, options) {}

  std::vector<Accusation> run() {
    set_baselines();
    ask_alone(ill_or_unknown_alone());
    Explanation explanation = explain(cases_, well_alone(), evidence_, trials_);
    Indices unexplained;
    for (const auto& [victim, shown] : explanation.unexplained)
      if (records_.count(victim) == 0) unexplained.push_back(victim);
    ask_alone(unexplained);
    for (auto& [cell, victims] : explanation.clusters) pursue_cluster(cell, victims);
    Doubts doubts = doubts_of(explanation.unexplained);
    while (drop_bystanders(doubts), !doubts.empty()) pursue_doubt(doubts);
    return std::move(accusations_);
  }

 private:
  void add(Accusation accusation) {
    accusations_.push_back(std::move(accusation));
    if (options_.found) options_.found(accusations_.size());
  }

  void set_baselines() {
    for (std::size_t c = 0; c < cases_.size(); ++c)
      for (const Sighting& sighting : evidence_.of(c))
        if (sighting.position == 0 && trials_.alone(c) == nullptr)
          trials_.set_alone(c, *sighting.outcome);
  }

  /// Bad in position 0, or not one result there; never there, and bad or not one result elsewhere.
  Indices ill_or_unknown_alone() const {
    Indices found;
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      const std::vector<Sighting>& sightings = evidence_.of(c);
      if (sightings.empty()) continue;
      const bool never_alone = trials_.alone(c) == nullptr;
      const Outcome& usual = never_alone ? *sightings.front().outcome : *trials_.alone(c);
      const bool ill = std::any_of(sightings.begin(), sightings.end(), [&](const Sighting& one) {
        if (!never_alone && one.position != 0) return false;
        return trials_.symptom(c, *one.outcome, &usual).fingerprint != Fingerprint::none;
      });
      if (ill) found.push_back(c);
    }
    return found;
  }

  Indices well_alone() const {
    Indices found;
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      const auto record = records_.find(c);
      const bool well = record == records_.end() ? trials_.alone(c) != nullptr
                                                 : record->second.word == AloneWord::well;
      if (well) found.push_back(c);
    }
    return found;
  }

  /// Accuses those that are ill alone, but for the brittle ones, which were well in some order.
  void ask_alone(const Indices& cases) {
    const std::vector<AloneRecord> records =
        repeat_alone(cases, evidence_, trials_, options_.confirmations);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const AloneRecord& record = records[i];
      records_[cases[i]] = record;
      if (record.word == AloneWord::by_poison || record.word == AloneWord::varies ||
          (record.word == AloneWord::bad && !ever_well(cases[i])))
        add(accuser_.accuse_alone(cases[i], record));
    }
  }

  bool ever_well(std::size_t c) const {
    const std::vector<Sighting>& sightings = evidence_.of(c);
    return std::any_of(sightings.begin(), sightings.end(), [&](const Sighting& sighting) {
      return trials_.symptom(c, *sighting.outcome).judgement.verdict == Verdict::passed;
    });
  }

  bool settled(std::size_t c) const {
    const auto record = records_.find(c);
    return record != records_.end() && record->second.word != AloneWord::well &&
           record->second.word != AloneWord::unknown;
  }

  void pursue_cluster(const CellName& cell, CellVictims& victims) {
    const Indices sharing = evidence_.sharing(cell.carrier, cell.cell);
    std::erase_if(victims, [&](const auto& entry) { return settled(entry.first); });
    while (drop_bystanders(victims), !victims.empty()) {
      const Shown shown = most_telling(cases_, victims);
      const std::size_t victim = shown.sighting.case_index;
      if (records_.count(victim) == 0) ask_alone({victim});
      if (!settled(victim)) {
        Suspicion suspicion{victim, Role::victim, shown.fingerprint, shown.sighting, {}, {}, 1};
        suspicion.suspects = cell_suspects(cases_, victims, victim, shown.writer, sharing);
        suspicion.common = common_cases(evidence_, victims.at(victim));
        Accusation accusation = accuse(suspicion);
        victims.erase(accusation.victim);
        if (accusation.finding.kind == Kind::order_dependent) confirm_cluster(accusation, victims);
        if (accusation.finding.kind == Kind::unconfirmed) name_cluster(accusation, victims);
        add(std::move(accusation));
        drop_bystanders(victims);
      }
      victims.erase(victim);
    }
  }

  /// Of a group that ended its process, whoever had a part in it.
  Accusation accuse(Suspicion suspicion) {
    const Sighting culprit =
        culprit_of(suspicion.sighting, suspicion.fingerprint, evidence_, trials_);
    if (culprit.case_index != suspicion.victim) {
      suspicion = {culprit.case_index, Role::victim, suspicion.fingerprint, culprit, {}, {}, 1};
      if (records_.count(suspicion.victim) == 0) ask_alone({suspicion.victim});
    }
    return accuser_.accuse(suspicion, records_.at(suspicion.victim));
  }

  /// Forgets runs that a finding explains, and names their cases there.
  void drop_bystanders(CellVictims& victims) {
    for (auto& [victim, shown] : victims) drop_bystanders(victim, shown);
    std::erase_if(victims, [](const auto& entry) { return entry.second.empty(); });
  }
  void drop_bystanders(std::size_t victim, std::vector<Shown>& shown) {
    for (Accusation& accusation : accusations_) {
      const std::size_t dropped = std::erase_if(
          shown, [&](const Shown& one) { return went_down_with(one, accusation, evidence_); });
      std::vector<std::string>& also = accusation.finding.also;
      const std::string& id = cases_[victim].id();
      if (dropped > 0 && victim != accusation.victim && std::ranges::find(also, id) == also.end())
        also.push_back(id);
    }
  }

  /// Every other victim, once, after the found history where its own runs saw that one's polluter
  /// write the cell, else after the nearest writer they saw. Those that go wrong are the same
  /// finding.
  void confirm_cluster(Accusation& accusation, CellVictims& victims) {
    std::vector<TrialOrder> orders;
    for (const auto& [victim, runs] : victims) {
      const auto nearer = [&, v = victim](const Shown& a, const Shown& b) {
        const auto rank = [&](const Shown& shown) {
          const bool is_found = shown.writer == accusation.history.back();
          return std::tuple(!is_found, distance(cases_[shown.writer], cases_[v]), shown.writer);
        };
        return rank(a) < rank(b);
      };
      const Shown& shown = *std::min_element(runs.begin(), runs.end(), nearer);
      const bool is_found = shown.writer == accusation.history.back();
      TrialOrder trial{is_found ? accusation.history : Order{shown.writer}, shown.sighting.poison};
      trial.order.push_back(victim);
      orders.push_back(std::move(trial));
    }
    const std::vector<TrialRun> runs = trials_.run(orders);
    for (std::size_t i = 0; i < orders.size(); ++i) {
      if (runs[i].symptom.fingerprint == Fingerprint::none) continue;
      accusation.finding.also.push_back(cases_[orders[i].order.back()].id());
      victims.erase(orders[i].order.back());
    }
  }

  /// Stopped: all that is known of the others is that they share the cell.
  void name_cluster(Accusation& accusation, CellVictims& victims) {
    for (const auto& [victim, runs] : victims)
      if (victim != accusation.victim) accusation.finding.also.push_back(cases_[victim].id());
    victims.clear();
  }

  /// Victims that no cell explains and brittle cases, both well in one kind of order and not in
  /// another.
  Doubts doubts_of(const CellVictims& unexplained) const {
    Doubts doubts;
    for (const auto& [victim, shown] : unexplained) {
      if (settled(victim)) continue;
      Doubt& doubt = doubts[victim];
      doubt.shown = shown;
      for (const Sighting& sighting : evidence_.of(victim))
        if (trials_.symptom(victim, *sighting.outcome).fingerprint == Fingerprint::none)
          doubt.plain.push_back(sighting);
    }
    for (const auto& [victim, record] : records_) {
      if (record.word != AloneWord::bad || !ever_well(victim)) continue;
      Doubt& doubt = doubts[victim];
      doubt.role = Role::brittle;
      doubt.alone = record.symptom.fingerprint;
      for (const Sighting& sighting : evidence_.of(victim)) {
        const Symptom symptom = trials_.symptom(victim, *sighting.outcome);
        if (symptom.judgement.verdict == Verdict::passed)
          doubt.shown.push_back({sighting, Fingerprint::none, 0});
        else
          doubt.plain.push_back(sighting);
      }
    }
    return doubts;
  }

  void drop_bystanders(Doubts& doubts) {
    for (auto& [victim, doubt] : doubts) drop_bystanders(victim, doubt.shown);
    std::erase_if(doubts, [](const auto& entry) { return entry.second.shown.empty(); });
  }

  void pursue_doubt(Doubts& doubts) {
    const Suspicion suspicion = most_telling(cases_, evidence_, doubts);
    Accusation accusation = accuse(suspicion);
    doubts.erase(accusation.victim);
    if (accusation.finding.kind == Kind::order_dependent)
      confirm_doubts(accusation, suspicion.role, doubts);
    add(std::move(accusation));
    drop_bystanders(doubts);
    doubts.erase(suspicion.victim);
  }

  /// All remaining doubts of the role after the found history, under both poisons: no cell vouches
  /// for the cause, so both must go the other way.
  void confirm_doubts(Accusation& accusation, Role role, Doubts& doubts) {
    std::vector<TrialOrder> orders;
    for (const auto& [victim, doubt] : doubts) {
      if (doubt.role != role) continue;
      Order order = accusation.history;
      order.push_back(victim);
      orders.push_back({order, 0});
      orders.push_back({order, 1});
    }
    const std::vector<TrialRun> runs = trials_.run(orders);
    const auto went_the_other_way = [&](const TrialRun& run) {
      return role == Role::victim ? run.symptom.fingerprint != Fingerprint::none
                                  : run.symptom.judgement.verdict == Verdict::passed;
    };
    for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
      if (!went_the_other_way(runs[i]) || !went_the_other_way(runs[i + 1])) continue;
      accusation.finding.also.push_back(cases_[orders[i].order.back()].id());
      doubts.erase(orders[i].order.back());
    }
  }

  std::span<const Case> cases_;
  const Evidence& evidence_;
  Trials& trials_;
  const InvestigateOptions& options_;
  Accuser accuser_;
  std::map<std::size_t, AloneRecord> records_;  ///< cases that were repeated alone
  std::vector<Accusation> accusations_;
};

}  // namespace

Investigation investigate(std::span<const Case> cases, std::span<const Sequence> sequences,
                          std::span<const SequenceResult> results, Judge& judge, Executor& executor,
                          const InvestigateOptions& options) {
  const Evidence evidence(cases.size(), sequences, results);
  Trials trials(cases.size(), judge, executor);
  InvestigateOptions usable = options;
  usable.confirmations = std::max<std::size_t>(options.confirmations, 1);
  std::vector<Accusation> accusations = Inquiry(cases, evidence, trials, usable).run();
  sort_for_reading(accusations, cases);

  Investigation investigation;
  investigation.cases = summarize(cases, evidence, judge);
  for (Accusation& accusation : accusations)
    investigation.findings.push_back(std::move(accusation.finding));
  return investigation;
}

}  // namespace parity
