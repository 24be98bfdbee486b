// Repeats cases alone and says in one word what they do.
#include "harness/alone.hpp"

#include <algorithm>
#include <array>

namespace parity {
namespace {

struct AloneRun {
  unsigned poison = 0;
  Outcome outcome;
};

bool same_result(const AloneRun& a, const AloneRun& b) {
  return a.outcome.status == b.outcome.status && a.outcome.plan == b.outcome.plan &&
         a.outcome.outputs == b.outcome.outputs && a.outcome.unwritten == b.outcome.unwritten &&
         a.outcome.broken_guards == b.outcome.broken_guards &&
         a.outcome.changed_inputs == b.outcome.changed_inputs;
}

/// Both poisons were tried, and each gave one result.
bool is_function_of_poison(const std::vector<AloneRun>& runs) {
  std::array<const AloneRun*, 2> first = {nullptr, nullptr};
  for (const AloneRun& run : runs) {
    const AloneRun*& known = first[run.poison % 2];
    if (known == nullptr) known = &run;
    if (!same_result(run, *known)) return false;
  }
  return first[0] != nullptr && first[1] != nullptr;
}

AloneRecord describe(std::size_t case_index, const std::vector<AloneRun>& runs, Trials& trials) {
  AloneRecord record;
  if (runs.empty()) return record;
  std::size_t bad = 0;
  std::size_t different = 0;
  for (const AloneRun& run : runs) {
    const Symptom symptom = trials.symptom(case_index, run.outcome);
    const bool is_first = bad + different == 0;
    if (symptom.fingerprint == Fingerprint::none) continue;
    if (is_first) record.symptom = symptom;
    ++(is_bad(symptom.judgement.verdict) ? bad : different);
  }
  record.odd = {bad > 0 ? bad : different, runs.size()};
  if (bad == runs.size())
    record.word = AloneWord::bad;
  else if (bad + different == 0)
    record.word = AloneWord::well;
  else
    record.word = is_function_of_poison(runs) ? AloneWord::by_poison : AloneWord::varies;
  return record;
}

/// Bits are compared with a run that is well, if there is one.
void choose_baseline(std::size_t case_index, const std::vector<AloneRun>& runs, Trials& trials) {
  if (trials.alone(case_index) != nullptr || runs.empty()) return;
  const auto well = std::find_if(runs.begin(), runs.end(), [&](const AloneRun& run) {
    return !is_bad(trials.symptom(case_index, run.outcome).judgement.verdict);
  });
  trials.set_alone(case_index, (well == runs.end() ? runs.front() : *well).outcome);
}

}  // namespace

std::vector<AloneRecord> repeat_alone(const std::vector<std::size_t>& cases,
                                      const Evidence& evidence, Trials& trials,
                                      std::size_t confirmations) {
  std::vector<std::vector<AloneRun>> runs(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (const Sighting& sighting : evidence.of(cases[i]))
      if (sighting.position == 0) runs[i].push_back({sighting.poison, *sighting.outcome});

  // Indices into `cases`, each with as many runs as the round asks.
  const auto repeat = [&](const std::vector<std::size_t>& which) {
    std::vector<TrialOrder> orders;
    for (std::size_t i : which)
      for (std::size_t k = 0; k < confirmations; ++k)
        orders.push_back({{cases[i]}, static_cast<unsigned>((runs[i].size() + k) % 2)});
    std::vector<TrialRun> done = trials.run(orders);
    std::size_t next = 0;
    for (std::size_t i : which)
      for (std::size_t k = 0; k < confirmations; ++k, ++next)
        if (done[next].symptom.ran)
          runs[i].push_back({orders[next].last_poison, std::move(done[next].outcomes.back())});
  };

  std::vector<std::size_t> all(cases.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  repeat(all);
  std::vector<AloneRecord> records(cases.size());
  std::vector<std::size_t> inconstant;
  for (std::size_t i : all) {
    choose_baseline(cases[i], runs[i], trials);
    records[i] = describe(cases[i], runs[i], trials);
    if (records[i].word == AloneWord::by_poison || records[i].word == AloneWord::varies)
      inconstant.push_back(i);
  }
  repeat(inconstant);
  for (std::size_t i : inconstant) records[i] = describe(cases[i], runs[i], trials);
  return records;
}

}  // namespace parity
