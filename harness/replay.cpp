#include "harness/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "harness/attribute.hpp"
#include "harness/chance.hpp"
#include "harness/symptom.hpp"

namespace parity {
namespace {

/// What the case gives when it is well and alone: the commonest result; null when it never was.
const Outcome* baseline_of(std::size_t victim, const std::vector<const Outcome*>& alone,
                           Judge& judge) {
  const Outcome* expected = nullptr;
  std::ptrdiff_t most = 0;
  for (const Outcome* candidate : alone) {
    if (judge.judge(victim, *candidate).verdict != Verdict::passed) continue;
    const std::ptrdiff_t votes = std::count_if(alone.begin(), alone.end(), [&](const Outcome* o) {
      return o->outputs == candidate->outputs;
    });
    if (votes <= most) continue;
    most = votes;
    expected = candidate;
  }
  return expected;
}

struct Count {
  Rate rate;
  const Outcome* first = nullptr;  ///< the first that diverged, and what it showed
  Symptom symptom;
};

using Compare = std::function<Symptom(const Outcome&)>;

Count count(const std::vector<const Outcome*>& outcomes, const Compare& compare) {
  Count counted;
  for (const Outcome* outcome : outcomes) {
    const Symptom symptom = compare(*outcome);
    if (!symptom.ran) continue;
    ++counted.rate.runs;
    if (symptom.fingerprint == Fingerprint::none) continue;
    if (counted.rate.hits++ > 0) continue;
    counted.first = outcome;
    counted.symptom = symptom;
  }
  return counted;
}

/// The word for both counts together; nothing diverged: no kind.
std::optional<Kind> classify(const Rate& sequence, const Rate& alone, bool one_case,
                             Fingerprint symptom) {
  if (sequence.hits == 0 && alone.hits == 0) return std::nullopt;
  // Where the order shows it every time, one run of each is all a person asked for.
  const bool by_order = sequence.hits == sequence.runs || told_from_chance(sequence, alone.runs);
  if (alone.hits == 0) return by_order && alone.runs > 0 ? Kind::order_dependent : Kind::unstable;
  if (alone.hits < alone.runs) return Kind::unstable;
  const bool well_after_others = !one_case && sequence.runs > 0 && sequence.hits == 0;
  return well_after_others ? Kind::order_dependent : kind_alone(symptom);
}

std::vector<const Outcome*> last_outcomes(std::span<const SequenceResult> results) {
  std::vector<const Outcome*> last;
  for (const SequenceResult& result : results) last.push_back(&result.outcomes.back());
  return last;
}

/// Where the last case ran at the same time as copies of itself, one that diverged stands for all.
void prefer_odd_copies(std::vector<const Outcome*>& last, const Replay& done,
                       const Compare& compare) {
  for (std::size_t i = 0; i < last.size(); ++i)
    for (const std::size_t copy : done.sequences[i].last_copies()) {
      const Outcome& outcome = done.results[i].outcomes[copy];
      if (compare(*last[i]).fingerprint == Fingerprint::none) last[i] = &outcome;
    }
}

void name_state(Finding& finding, const Order& order, const Outcome& seen, Executor& executor,
                const Compare& compare) {
  const Order history(order.begin(), order.end() - 1);
  const Attribution named =
      attribute(history, order.back(), seen, executor, [&](const Outcome& outcome) {
        const Symptom symptom = compare(outcome);
        return symptom.ran && symptom.fingerprint == Fingerprint::none;
      });
  finding.carrier = named.carrier;
  finding.cell = named.cell;
  finding.built_for = named.built_for;
  finding.used_for = named.used_for;
  finding.grade = named.grade;
}

}  // namespace

Replay replay(std::span<const Case> cases, const Order& order, std::size_t repeat, Judge& judge,
              Executor& executor, const std::string& program, const std::string& suffix) {
  Replay done;
  const std::size_t victim = order.back();
  const bool one_case = order.size() == 1;
  for (unsigned i = 0; i < repeat; ++i)
    done.sequences.push_back(Sequence::of(order, i % 2, executor.threads()));
  for (unsigned i = 0; i < repeat && !one_case; ++i)
    done.sequences.push_back(Sequence::of(std::vector{victim}, i % 2));
  done.results = executor.execute(done.sequences);

  const std::span<const SequenceResult> results = done.results;
  auto in_sequence = last_outcomes(results.first(repeat));
  const auto alone = one_case ? in_sequence : last_outcomes(results.subspan(repeat));
  const Outcome* expected = baseline_of(victim, alone, judge);
  const Compare compare = [&](const Outcome& outcome) {
    return symptom_of(judge.judge(victim, outcome), outcome, expected,
                      judge.noise_permitted(victim));
  };
  prefer_odd_copies(in_sequence, done, compare);
  const Count counted = count(in_sequence, compare);
  const Count counted_alone = count(alone, compare);
  done.in_sequence = counted.rate;
  done.alone = counted_alone.rate;

  const Count& shown = counted.first != nullptr ? counted : counted_alone;
  const Symptom& seen = shown.symptom;
  const std::optional<Kind> kind =
      classify(done.in_sequence, done.alone, one_case, seen.fingerprint);
  if (!kind) return done;

  Finding finding;
  finding.kind = *kind;
  finding.fingerprint = seen.fingerprint;
  finding.victim = cases[victim].id();
  finding.role =
      *kind == Kind::order_dependent && done.alone.hits > 0 ? Role::brittle : Role::victim;
  for (const std::size_t index : order) finding.sequence.push_back(cases[index].id());
  finding.threads = executor.threads();
  finding.reproduced =
      finding.role == Role::brittle
          ? Rate{done.in_sequence.runs - done.in_sequence.hits, done.in_sequence.runs}
          : done.in_sequence;
  finding.alone = done.alone;
  finding.error = seen.judgement.error;
  finding.tolerance = seen.judgement.tolerance;
  finding.detail = seen.detail;
  if (seen.fingerprint == Fingerprint::bits && expected)
    finding.detail = judge.first_difference(victim, *shown.first, *expected);
  finding.replay = fmt::format("{} replay {} --repeat {}{}", program,
                               fmt::join(finding.sequence, " "), repeat, suffix);
  if (!one_case) finding.contrast = fmt::format("{} replay {}{}", program, finding.victim, suffix);
  finding.not_probed = executor.abilities().not_probed;
  if (*kind == Kind::order_dependent && finding.role == Role::victim)
    name_state(finding, order, *shown.first, executor, compare);
  done.finding = std::move(finding);
  return done;
}

}  // namespace parity
