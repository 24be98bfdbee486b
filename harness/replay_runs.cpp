#include "harness/replay_runs.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace parity {
namespace {

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

}  // namespace

void ReplayRuns::run_in_turn(std::size_t in_order, std::size_t alone) {
  std::vector<Sequence> asked;
  for (std::size_t i = 0; i < std::max(in_order, alone); ++i) {
    if (i < in_order) {
      asked.push_back(Sequence::of(order_, asked_in_order_++ % 2, executor_.threads()));
      asked.back().patience = patience_in_order_;
    }
    if (i < alone && !one_case()) {
      asked.push_back(Sequence::of(std::vector{order_.back()}, asked_alone_++ % 2));
      asked.back().patience = patience_alone_;
    }
  }
  std::vector<SequenceResult> answered = executor_.execute(asked);
  std::ranges::move(asked, std::back_inserter(sequences));
  std::ranges::move(answered, std::back_inserter(results));
  count_all();
}

void ReplayRuns::begin_anew(std::size_t patience_in_order, std::size_t patience_alone) {
  counted_from_ = sequences.size();
  asked_in_order_ = asked_alone_ = 0;
  patience_in_order_ = patience_in_order;
  patience_alone_ = patience_alone;
}

Symptom ReplayRuns::compare(const Outcome& outcome) const {
  return symptom_of(judge_.judge(order_.back(), outcome), outcome, expected_,
                    judge_.noise_permitted(order_.back()));
}

bool ReplayRuns::is_alone(const Sequence& sequence) const {
  return !one_case() && sequence.steps.size() == 1;
}

void ReplayRuns::count_all() {
  std::vector<const Outcome*> alone;
  for (std::size_t i = counted_from_; i < sequences.size(); ++i)
    if (one_case() || is_alone(sequences[i])) alone.push_back(&results[i].outcomes.back());
  expected_ = baseline_of(order_.back(), alone, judge_);
  in_sequence_ = alone_ = ReplayCount{};
  for (std::size_t i = counted_from_; i < sequences.size(); ++i)
    count(is_alone(sequences[i]) ? alone_ : in_sequence_, i);
  if (one_case()) alone_ = in_sequence_;
}

/// Of runs of the same case at the same time, one that diverged stands for all.
void ReplayRuns::count(ReplayCount& counted, std::size_t run) const {
  const Outcome* outcome = &results[run].outcomes.back();
  for (const std::size_t copy : sequences[run].last_copies())
    if (compare(*outcome).fingerprint == Fingerprint::none) outcome = &results[run].outcomes[copy];
  const Symptom symptom = compare(*outcome);
  if (!symptom.ran) return;
  ++counted.rate.runs;
  if (symptom.fingerprint == Fingerprint::none) return;
  counted.machine = counted.machine || machine_may_show(symptom.fingerprint);
  counted.late = counted.late || symptom.fingerprint == Fingerprint::timeout;
  counted.ended = counted.ended || ends_process(*outcome);
  if (counted.rate.hits++ > 0) return;
  counted.first = outcome;
  counted.symptom = symptom;
}

}  // namespace parity
