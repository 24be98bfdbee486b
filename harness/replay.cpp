#include "harness/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "harness/attribute.hpp"
#include "harness/chance.hpp"
#include "harness/symptom.hpp"

namespace parity {
namespace {

/// With one more, enough to tell all from none.
constexpr std::size_t kFewTries = kFewestTellingRuns - 1;

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
  bool machine = false;  ///< a starved machine may show what one of those that diverged did
  bool late = false;     ///< one of them did not end in time
  bool ended = false;    ///< one of them ended the process
};

using Compare = std::function<Symptom(const Outcome&)>;

/// Of runs of the same case at the same time, one that diverged stands for all.
void count(Count& counted, const SequenceResult& result, const std::vector<std::size_t>& copies,
           const Compare& compare) {
  const Outcome* outcome = &result.outcomes.back();
  for (const std::size_t copy : copies)
    if (compare(*outcome).fingerprint == Fingerprint::none) outcome = &result.outcomes[copy];
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

/// All runs so far of a sequence and of its last case alone; one case is both. What is late on one
/// side only is counted anew, with twice the other side's limit for that one: being a little slower
/// than the limit is nobody's leak.
class Replaying {
 public:
  Replaying(const Order& order, std::size_t repeat, Judge& judge, Executor& executor)
      : order_(order), repeat_(repeat), judge_(judge), executor_(executor) {}

  Replay run() {
    run_until_told();
    if (kind() == Kind::order_dependent && accused().late) {
      const Count in_sequence = in_sequence_;
      const Count alone = alone_;
      if (well_only_after_others())
        patience_alone_ = kTwiceTheLimit * executor_.threads();
      else
        patience_in_order_ = kTwiceTheLimit;
      counted_from_ = done_.sequences.size();
      in_order_runs_ = alone_runs_ = 0;
      run_until_told();
      if (executor_.stopped() || !kind()) {
        in_sequence_ = in_sequence;
        alone_ = alone;
        barely_late_ = true;
      }
    }
    done_.in_sequence = in_sequence_.rate;
    done_.alone = alone_.rate;
    return std::move(done_);
  }

  const Count& in_sequence() const { return in_sequence_; }
  const Count& alone() const { return alone_; }
  const Outcome* expected() const { return expected_; }

  Symptom compare(const Outcome& outcome) const {
    return symptom_of(judge_.judge(order_.back(), outcome), outcome, expected_,
                      judge_.noise_permitted(order_.back()));
  }

  /// The word for both counts together; nothing diverged: no kind.
  std::optional<Kind> kind() const {
    if (barely_late_) return executor_.stopped() ? Kind::unconfirmed : Kind::unstable;
    const Rate& sequence = in_sequence_.rate;
    const Rate& alone = alone_.rate;
    if (sequence.hits == 0 && alone.hits == 0) return std::nullopt;
    if (undecided()) return executor_.stopped() ? Kind::unconfirmed : Kind::unstable;
    if (alone.hits == 0) return alone.runs > 0 ? Kind::order_dependent : Kind::unstable;
    if (alone.hits < alone.runs) return Kind::unstable;
    if (well_only_after_others()) return Kind::order_dependent;
    return kind_alone((in_sequence_.first != nullptr ? in_sequence_ : alone_).symptom.fingerprint);
  }

 private:
  struct More {
    std::size_t in_order = 0;
    std::size_t alone = 0;
  };

  void run_until_told() {
    for (More more{repeat_, repeat_}; more.in_order + more.alone > 0; more = more_runs()) {
      run_in_turn(more);
      count_all();
    }
  }

  bool one_case() const { return order_.size() == 1; }

  bool well_only_after_others() const {
    return !one_case() && in_sequence_.rate.runs > 0 && in_sequence_.rate.hits == 0 &&
           alone_.rate.hits > 0 && alone_.rate.hits == alone_.rate.runs;
  }

  /// What the sequence showed and the case alone did not.
  Rate shown() const {
    const Rate& sequence = in_sequence_.rate;
    return well_only_after_others() ? Rate{sequence.runs, sequence.runs} : sequence;
  }
  /// The side that diverged where the other did not.
  const Count& accused() const { return well_only_after_others() ? alone_ : in_sequence_; }
  bool machine() const { return accused().machine; }

  /// In turn, a machine that is starved for a while meets both alike; then those must be as many.
  std::size_t comparable_alone() const {
    return machine() ? std::min(alone_.rate.runs, in_sequence_.rate.runs) : alone_.rate.runs;
  }

  /// Where the order shows it every time, one run of each is all a person asked for; not for what
  /// a starved machine may show.
  bool undecided() const {
    if (one_case() || shown().hits == 0) return false;
    if (alone_.rate.hits > 0 && !well_only_after_others()) return false;
    const bool always = shown().hits == shown().runs;
    return !(always && !machine()) && !told_from_chance(shown(), comparable_alone());
  }

  More more_runs() const {
    if (!undecided() || executor_.stopped()) return {};
    const bool always = shown().hits == shown().runs;
    const bool once = shown().hits == 1 || alone_.rate.hits == 1;
    // What happens all the time will go on; what was seen once is seen again or was an accident.
    if ((always || once) && in_order_runs_ == repeat_) return {kFewTries, kFewTries};
    if (always || once) return {};
    const Rate rate{shown().hits, in_order_runs_};
    const std::size_t in_order = order_runs_wanted(rate, machine() ? rate.runs : kMostRunsAlone);
    if (in_order > rate.runs)
      return {in_order - rate.runs, in_order - std::min(in_order, alone_runs_)};
    const std::size_t alone = alone_runs_wanted(rate);
    if (machine() || alone <= alone_runs_ || !told_from_chance(rate, alone)) return {};
    return {0, alone - alone_runs_};
  }

  void run_in_turn(const More& more) {
    std::vector<Sequence> sequences;
    for (std::size_t i = 0; i < std::max(more.in_order, more.alone); ++i) {
      if (i < more.in_order) {
        sequences.push_back(Sequence::of(order_, in_order_runs_++ % 2, executor_.threads()));
        sequences.back().patience = patience_in_order_;
      }
      if (i < more.alone && !one_case()) {
        sequences.push_back(Sequence::of(std::vector{order_.back()}, alone_runs_++ % 2));
        sequences.back().patience = patience_alone_;
      }
    }
    std::vector<SequenceResult> results = executor_.execute(sequences);
    std::ranges::move(sequences, std::back_inserter(done_.sequences));
    std::ranges::move(results, std::back_inserter(done_.results));
  }

  void count_all() {
    std::vector<const Outcome*> alone;
    for (std::size_t i = counted_from_; i < done_.sequences.size(); ++i)
      if (one_case() || done_.sequences[i].steps.size() == 1)
        alone.push_back(&done_.results[i].outcomes.back());
    expected_ = baseline_of(order_.back(), alone, judge_);
    in_sequence_ = alone_ = Count{};
    for (std::size_t i = counted_from_; i < done_.sequences.size(); ++i) {
      const Sequence& sequence = done_.sequences[i];
      const bool is_alone = !one_case() && sequence.steps.size() == 1;
      count(is_alone ? alone_ : in_sequence_, done_.results[i], sequence.last_copies(),
            [this](const Outcome& outcome) { return compare(outcome); });
    }
    if (one_case()) alone_ = in_sequence_;
  }

  const Order& order_;
  const std::size_t repeat_;
  Judge& judge_;
  Executor& executor_;
  Replay done_;
  std::size_t in_order_runs_ = 0;  ///< asked for so far
  std::size_t alone_runs_ = 0;
  std::size_t patience_in_order_ = 1;
  std::size_t patience_alone_ = 1;
  std::size_t counted_from_ = 0;  ///< sequences before it do not count
  bool barely_late_ = false;      ///< in time within twice the other side's limit
  const Outcome* expected_ = nullptr;
  Count in_sequence_;
  Count alone_;
};

void name_state(Finding& finding, const Order& order, const Outcome& seen, Executor& executor,
                const Replaying& replaying) {
  const Order history(order.begin(), order.end() - 1);
  const auto is_baseline = [&](const Outcome& outcome) {
    const Symptom symptom = replaying.compare(outcome);
    return symptom.ran && symptom.fingerprint == Fingerprint::none;
  };
  const Attribution named = attribute(history, order.back(), seen, executor, is_baseline,
                                      causal_repeats(finding.reproduced));
  finding.carrier = named.carrier;
  finding.cell = named.cell;
  finding.built_for = named.built_for;
  finding.used_for = named.used_for;
  finding.grade = named.grade;
}

}  // namespace

Replay replay(std::span<const Case> cases, const Order& order, std::size_t repeat, Judge& judge,
              Executor& executor, const std::string& program, const std::string& suffix) {
  const std::size_t victim = order.back();
  Replaying replaying(order, repeat, judge, executor);
  Replay done = replaying.run();
  std::optional<Kind> kind = replaying.kind();
  if (!kind) return done;

  if (*kind == Kind::order_dependent && replaying.in_sequence().ended) {
    const std::size_t runs = done.in_sequence.runs;
    for (const std::size_t other : Sequence::of(order, 0, executor.threads()).company()) {
      Replay alone = replay(cases, {other}, runs, judge, executor, program, suffix);
      std::ranges::move(alone.sequences, std::back_inserter(done.sequences));
      std::ranges::move(alone.results, std::back_inserter(done.results));
      if (!alone.finding || !ends_process(alone.finding->fingerprint)) continue;
      done.finding = std::move(alone.finding);
      return done;
    }
    if (executor.stopped()) kind = Kind::unconfirmed;
  }

  const bool in_order = replaying.in_sequence().first != nullptr;
  const Count& shown = in_order ? replaying.in_sequence() : replaying.alone();
  const Symptom& seen = shown.symptom;
  const Outcome* expected = replaying.expected();

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
  if (order.size() > 1)
    finding.contrast = fmt::format("{} replay {}{}", program, finding.victim, suffix);
  finding.not_probed = executor.abilities().not_probed;
  if (*kind == Kind::order_dependent && finding.role == Role::victim)
    name_state(finding, order, *shown.first, executor, replaying);
  done.finding = std::move(finding);
  return done;
}

}  // namespace parity
