#include "harness/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/attribute.hpp"

namespace parity {
namespace {

using Bits = std::vector<OutputDigest>;

/// Tells divergence of one case: wrong by the judge, or other bits than it has alone.
class Baseline {
 public:
  Baseline(std::size_t victim, Judge& judge, const std::vector<const Outcome*>& alone)
      : victim_(victim), judge_(judge) {
    std::size_t most = 0;
    for (const Outcome* candidate : alone) {
      if (judge.judge(victim, *candidate).verdict != Verdict::passed) continue;
      const auto votes = static_cast<std::size_t>(std::count_if(
          alone.begin(), alone.end(), [&](const Outcome* o) { return o->outputs == candidate->outputs; }));
      if (votes > most) {
        most = votes;
        expected_ = candidate;
      }
    }
  }

  Fingerprint symptom(const Outcome& outcome) const {
    const Judgement judgement = judge_.judge(victim_, outcome);
    if (judgement.fingerprint != Fingerprint::none) return judgement.fingerprint;
    const bool other = expected_ && outcome.status == Status::ok && outcome.outputs != expected_->outputs;
    return other ? Fingerprint::bits : Fingerprint::none;
  }

 private:
  std::size_t victim_;
  Judge& judge_;
  const Outcome* expected_ = nullptr;
};

struct Count {
  Rate rate;
  const Outcome* first = nullptr;  ///< the first that diverged
};

Count count(const std::vector<const Outcome*>& outcomes, const Baseline& baseline) {
  Count counted;
  for (const Outcome* outcome : outcomes) {
    if (outcome->status == Status::not_run) continue;
    ++counted.rate.runs;
    if (baseline.symptom(*outcome) == Fingerprint::none) continue;
    if (counted.rate.hits++ == 0) counted.first = outcome;
  }
  return counted;
}

Kind kind_alone(Fingerprint fingerprint) {
  switch (fingerprint) {
    case Fingerprint::guard:
    case Fingerprint::unwritten:
    case Fingerprint::input:
      return Kind::hygiene;
    case Fingerprint::crash:
      return Kind::crash;
    case Fingerprint::timeout:
      return Kind::timeout;
    case Fingerprint::error:
      return Kind::error;
    default:
      return Kind::mismatch;
  }
}

/// The word for both counts together; nothing diverged: no kind.
std::optional<Kind> classify(const Rate& sequence, const Rate& alone, bool one_case, Fingerprint symptom) {
  if (sequence.hits == 0 && alone.hits == 0) return std::nullopt;
  if (alone.hits == 0) return Kind::order_dependent;
  if (alone.hits < alone.runs) return Kind::unstable;
  const bool well_after_others = !one_case && sequence.runs > 0 && sequence.hits == 0;
  return well_after_others ? Kind::order_dependent : kind_alone(symptom);
}

std::vector<const Outcome*> last_outcomes(std::span<const SequenceResult> results) {
  std::vector<const Outcome*> last;
  for (const SequenceResult& result : results) last.push_back(&result.outcomes.back());
  return last;
}

void name_state(Finding& finding, const Order& order, const Outcome& seen, Executor& executor,
                const Baseline& baseline) {
  const Order history(order.begin(), order.end() - 1);
  const Attribution named = attribute(history, order.back(), seen, executor, [&](const Outcome& outcome) {
    return outcome.status == Status::ok && baseline.symptom(outcome) == Fingerprint::none;
  });
  finding.carrier = named.carrier;
  finding.cell = named.cell;
  finding.built_for = named.built_for;
  finding.used_for = named.used_for;
  finding.grade = named.grade;
}

}  // namespace

Replay replay(std::span<const Case> cases, const Order& order, std::size_t repeat, Judge& judge,
              Executor& executor, const std::string& suffix) {
  Replay done;
  const std::size_t victim = order.back();
  const bool one_case = order.size() == 1;
  for (unsigned i = 0; i < repeat; ++i) done.sequences.push_back(Sequence::of(order, i % 2));
  for (unsigned i = 0; i < repeat && !one_case; ++i)
    done.sequences.push_back(Sequence::of(std::vector{victim}, i % 2));
  done.results = executor.execute(done.sequences);

  const std::span<const SequenceResult> results = done.results;
  const auto in_sequence = last_outcomes(results.first(repeat));
  const auto alone = one_case ? in_sequence : last_outcomes(results.subspan(repeat));
  const Baseline baseline(victim, judge, alone);
  const Count counted = count(in_sequence, baseline);
  const Count counted_alone = count(alone, baseline);
  done.in_sequence = counted.rate;
  done.alone = counted_alone.rate;

  const Outcome* seen = counted.first ? counted.first : counted_alone.first;
  const Fingerprint symptom = seen ? baseline.symptom(*seen) : Fingerprint::none;
  const std::optional<Kind> kind = classify(done.in_sequence, done.alone, one_case, symptom);
  if (!kind) return done;

  Finding finding;
  finding.kind = *kind;
  finding.fingerprint = symptom;
  finding.victim = cases[victim].id();
  finding.role = *kind == Kind::order_dependent && done.alone.hits > 0 ? Role::brittle : Role::victim;
  for (const std::size_t index : order) finding.sequence.push_back(cases[index].id());
  finding.reproduced = finding.role == Role::brittle
                           ? Rate{done.in_sequence.runs - done.in_sequence.hits, done.in_sequence.runs}
                           : done.in_sequence;
  finding.alone = done.alone;
  const Judgement judgement = judge.judge(victim, *seen);
  finding.error = judgement.error;
  finding.tolerance = judgement.tolerance;
  finding.detail = judgement.detail.empty() ? seen->detail : judgement.detail;
  finding.replay = fmt::format("harness replay {} --repeat {}{}", fmt::join(finding.sequence, " "), repeat, suffix);
  if (!one_case) finding.contrast = fmt::format("harness replay {}{}", finding.victim, suffix);
  finding.not_probed = executor.abilities().not_probed;
  if (*kind == Kind::order_dependent && finding.role == Role::victim)
    name_state(finding, order, *seen, executor, baseline);
  done.finding = std::move(finding);
  return done;
}

}  // namespace parity
