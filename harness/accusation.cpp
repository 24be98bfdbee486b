// Nothing is accused that was not seen again in fresh processes.
#include "harness/accusation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "harness/attribute.hpp"

namespace parity {

Accusation Accuser::accuse(const Suspicion& suspicion, const AloneRecord& record) {
  const Shrunk shrunk = shrink_history(suspicion);
  const Order& history = shrunk.result.history;
  Accusation accusation;
  accusation.victim = suspicion.victim;
  accusation.history = history;
  accusation.plan_order = suspicion.sighting.plan_order();
  Finding& finding = accusation.finding;
  finding = finding_of(suspicion, history);
  finding.alone = record.odd;
  if (!shrunk.result.reproduced) {
    const bool cut = trials_.executor().stopped() && shrunk.full.runs < options_.confirmations;
    finding.kind = cut ? Kind::unconfirmed : Kind::unstable;
    finding.reproduced = shrunk.full;
    const Judgement seen = trials_.symptom(suspicion.victim, *suspicion.sighting.outcome).judgement;
    finding.error = seen.error;
    finding.tolerance = seen.tolerance;
    finding.detail =
        fmt::format("{}: {}",
                    cut ? "seen once; stopped before it was seen again"
                        : "seen once in the plan, not again in the same order",
                    trials_.symptom(suspicion.victim, *suspicion.sighting.outcome).detail);
    return accusation;
  }
  report(
      fmt::format("confirming {} after {} case(s)", cases_[suspicion.victim].id(), history.size()));
  const Confirmation confirmation = confirm(suspicion, history, trials_, options_.confirmations);
  const bool cut = trials_.executor().stopped() && confirmation.by_chance;
  const bool brittle = suspicion.role == Role::brittle;
  const Symptom& wrong = brittle ? record.symptom : confirmation.symptom;
  const Judgement& judgement = wrong.judgement;
  finding.fingerprint = wrong.fingerprint;
  finding.reproduced = confirmation.reproduced;
  finding.alone.hits += confirmation.alone.hits;
  finding.alone.runs += confirmation.alone.runs;
  finding.error = judgement.error;
  finding.tolerance = judgement.tolerance;
  finding.detail = wrong.detail;
  if (!brittle && wrong.fingerprint == Fingerprint::bits)
    finding.detail = trials_.first_difference(suspicion.victim, confirmation.outcome);
  if (confirmation.by_chance) {
    finding.kind = cut ? Kind::unconfirmed : Kind::unstable;
    return accusation;
  }
  name_leak(suspicion, history, confirmation, finding);
  finding.exposed = exposed(finding, suspicion.victim);
  return accusation;
}

Accusation Accuser::accuse_alone(std::size_t victim, const AloneRecord& record) const {
  Suspicion suspicion;
  suspicion.victim = victim;
  suspicion.fingerprint = record.symptom.fingerprint;
  Accusation accusation;
  accusation.victim = victim;
  for (const Sighting& sighting : evidence_.of(victim)) {
    accusation.plan_order = sighting.plan_order();
    if (trials_.symptom(victim, *sighting.outcome).fingerprint != Fingerprint::none) break;
  }
  Finding& finding = accusation.finding;
  finding = finding_of(suspicion, {});
  finding.kind = record.word == AloneWord::bad         ? kind_alone(record.symptom.fingerprint)
                 : record.word == AloneWord::by_poison ? Kind::hygiene
                                                       : Kind::unstable;
  finding.contrast.clear();
  finding.reproduced = finding.alone = record.odd;
  finding.error = record.symptom.judgement.error;
  finding.tolerance = record.symptom.judgement.tolerance;
  finding.detail = record.symptom.detail;
  if (record.word == AloneWord::by_poison)
    finding.detail += " (depends on what the memory held before the run)";
  return accusation;
}

Accuser::Shrunk Accuser::shrink_history(const Suspicion& suspicion) {
  Shrunk shrunk;
  ShrinkRequest request;
  request.history = evidence_.history(suspicion.sighting);
  request.suspects = suspicion.suspects;
  request.common = suspicion.common;
  request.rate = suspicion.rate;
  request.attempts = options_.confirmations;
  request.trial = [&](const Order& history) {
    Order order = history;
    order.push_back(suspicion.victim);
    const Symptom symptom = trials_.run({{order, suspicion.sighting.poison}}).front().symptom;
    const Trial trial = read(suspicion, symptom);
    if (history == request.history && symptom.ran) {
      ++shrunk.full.runs;
      shrunk.full.hits += trial == Trial::fails ? 1 : 0;
    }
    return trial;
  };
  report(fmt::format("shrinking what ran before {}: {} cases", cases_[suspicion.victim].id(),
                     request.history.size()));
  shrunk.result = shrink(request);
  return shrunk;
}

void Accuser::name_leak(const Suspicion& suspicion, const Order& history,
                        const Confirmation& confirmation, Finding& finding) {
  report("naming what leaks into " + cases_[suspicion.victim].id());
  const auto is_baseline = [&](const Outcome& outcome) {
    return read(suspicion, trials_.symptom(suspicion.victim, outcome)) == Trial::passes;
  };
  const Attribution leak =
      attribute(history, suspicion.victim, confirmation.outcome, trials_.executor(), is_baseline,
                causal_repeats(confirmation.reproduced));
  finding.carrier = leak.carrier;
  finding.cell = leak.cell;
  finding.built_for = leak.built_for;
  finding.used_for = leak.used_for;
  finding.grade = leak.grade;
}

Finding Accuser::finding_of(const Suspicion& suspicion, const Order& history) const {
  Finding finding;
  finding.kind = Kind::order_dependent;
  finding.fingerprint = suspicion.fingerprint;
  finding.role = suspicion.role;
  finding.victim = cases_[suspicion.victim].id();
  Order order = history;
  order.push_back(suspicion.victim);
  for (std::size_t c : order) finding.sequence.push_back(cases_[c].id());
  finding.threads = trials_.executor().threads();
  finding.replay = replay(order) + " --repeat 20" + options_.replay_suffix;
  finding.contrast = replay({suspicion.victim}) + options_.replay_suffix;
  finding.not_probed = trials_.executor().abilities().not_probed;
  return finding;
}

std::string Accuser::replay(const Order& order) const {
  std::string command = options_.program + " replay";
  for (std::size_t c : order) command += " " + cases_[c].id();
  return command;
}

std::string Accuser::entry_point(std::size_t case_index) const {
  const Case& c = cases_[case_index];
  return fmt::format("{}({})", options_.foreign_worker ? c.spec->name : c.spec->entry_point,
                     c.dtype_text());
}

std::vector<std::string> Accuser::exposed(const Finding& finding, std::size_t victim) const {
  std::vector<std::size_t> sharing = {victim};
  if (!finding.cell.empty()) sharing = evidence_.sharing(finding.carrier, finding.cell);
  std::vector<std::string> entry_points;
  std::set<std::string> known;
  for (std::size_t c : sharing)
    if (known.insert(entry_point(c)).second) entry_points.push_back(entry_point(c));
  return entry_points;
}

void Accuser::report(const std::string& line) const {
  if (options_.progress) options_.progress(line);
}

void sort_for_reading(std::vector<Accusation>& accusations, std::span<const Case> cases) {
  const auto rank = [&](const Accusation& accusation) {
    const Order& history = accusation.history;
    const bool order_dependent = accusation.finding.kind == Kind::order_dependent;
    const int apart = order_dependent && !history.empty()
                          ? distance(cases[history.back()], cases[accusation.victim])
                          : 0;
    return std::tuple(!order_dependent, order_dependent ? history.size() : 0, apart,
                      accusation.plan_order, accusation.victim);
  };
  std::stable_sort(accusations.begin(), accusations.end(),
                   [&](const Accusation& a, const Accusation& b) { return rank(a) < rank(b); });
}

}  // namespace parity
