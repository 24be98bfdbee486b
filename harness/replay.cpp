#include "harness/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/attribute.hpp"
#include "harness/chance.hpp"
#include "harness/replay_runs.hpp"

namespace parity {
namespace {

/// With one more, enough to tell all from none.
constexpr std::size_t kFewTries = kFewestTellingRuns - 1;

/// Runs both sides until their counts tell. What is late on one side only is counted anew, with
/// twice the other side's limit for that one: being a little slower than the limit is nobody's
/// leak.
class Replaying {
 public:
  Replaying(const Order& order, std::size_t repeat, Judge& judge, Executor& executor)
      : repeat_(repeat), executor_(executor), runs_(order, judge, executor) {}

  void run() {
    run_until_told();
    if (kind() != Kind::order_dependent || !accused().late) return;
    const ReplayCount in_sequence = in_sequence_;
    const ReplayCount alone = alone_;
    well_only_after_others() ? runs_.begin_anew(1, kTwiceTheLimit * executor_.threads())
                             : runs_.begin_anew(kTwiceTheLimit, 1);
    run_until_told();
    if (!executor_.stopped() && kind()) return;
    in_sequence_ = in_sequence;
    alone_ = alone;
    barely_late_ = true;
  }

  ReplayRuns& runs() { return runs_; }
  const ReplayCount& in_sequence() const { return in_sequence_; }
  const ReplayCount& alone() const { return alone_; }
  bool barely_late() const { return barely_late_ && !executor_.stopped(); }

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
      runs_.run_in_turn(more.in_order, more.alone);
      in_sequence_ = runs_.in_sequence();
      alone_ = runs_.alone();
    }
  }

  bool well_only_after_others() const {
    return !runs_.one_case() && in_sequence_.rate.runs > 0 && in_sequence_.rate.hits == 0 &&
           alone_.rate.hits > 0 && alone_.rate.hits == alone_.rate.runs;
  }

  /// What the sequence showed and the case alone did not.
  Rate shown() const {
    const Rate& sequence = in_sequence_.rate;
    return well_only_after_others() ? Rate{sequence.runs, sequence.runs} : sequence;
  }
  /// The side that diverged where the other did not.
  const ReplayCount& accused() const { return well_only_after_others() ? alone_ : in_sequence_; }
  bool machine() const { return accused().machine; }

  /// In turn, a machine that is starved for a while meets both alike; then those must be as many.
  std::size_t comparable_alone() const {
    return machine() ? std::min(alone_.rate.runs, in_sequence_.rate.runs) : alone_.rate.runs;
  }

  /// Where the order shows it every time, one run of each is all a person asked for; not for what
  /// a starved machine may show.
  bool undecided() const {
    if (runs_.one_case() || shown().hits == 0) return false;
    if (alone_.rate.hits > 0 && !well_only_after_others()) return false;
    const bool always = shown().hits == shown().runs;
    return !(always && !machine()) && !told_from_chance(shown(), comparable_alone());
  }

  More more_runs() const {
    if (!undecided() || executor_.stopped()) return {};
    const bool always = shown().hits == shown().runs;
    const bool once = shown().hits == 1 || alone_.rate.hits == 1;
    // What happens all the time will go on; what was seen once is seen again or was an accident.
    if ((always || once) && runs_.asked_in_order() == repeat_) return {kFewTries, kFewTries};
    if (always || once) return {};
    const Rate rate{shown().hits, runs_.asked_in_order()};
    const std::size_t in_order = order_runs_wanted(rate, machine() ? rate.runs : kMostRunsAlone);
    if (in_order > rate.runs)
      return {in_order - rate.runs, in_order - std::min(in_order, runs_.asked_alone())};
    const std::size_t alone = alone_runs_wanted(rate);
    if (machine() || alone <= runs_.asked_alone() || !told_from_chance(rate, alone)) return {};
    return {0, alone - runs_.asked_alone()};
  }

  const std::size_t repeat_;
  Executor& executor_;
  ReplayRuns runs_;
  ReplayCount in_sequence_;  ///< that the verdict stands on
  ReplayCount alone_;
  bool barely_late_ = false;  ///< in time within twice the other side's limit
};

void name_state(Finding& finding, const Order& order, const Outcome& seen, Executor& executor,
                const ReplayRuns& runs) {
  const Order history(order.begin(), order.end() - 1);
  const auto is_baseline = [&](const Outcome& outcome) {
    const Symptom symptom = runs.compare(outcome);
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
  replaying.run();
  ReplayRuns& runs = replaying.runs();
  Replay done;
  done.in_sequence = replaying.in_sequence().rate;
  done.alone = replaying.alone().rate;
  done.sequences = std::move(runs.sequences);
  done.results = std::move(runs.results);
  std::optional<Kind> kind = replaying.kind();
  if (!kind) return done;

  if (*kind == Kind::order_dependent && replaying.in_sequence().ended) {
    const std::size_t as_often = done.in_sequence.runs;
    for (const std::size_t other : Sequence::of(order, 0, executor.threads()).company()) {
      Replay alone = replay(cases, {other}, as_often, judge, executor, program, suffix);
      std::ranges::move(alone.sequences, std::back_inserter(done.sequences));
      std::ranges::move(alone.results, std::back_inserter(done.results));
      if (!alone.finding || !ends_process(alone.finding->fingerprint)) continue;
      done.finding = std::move(alone.finding);
      return done;
    }
    if (executor.stopped()) kind = Kind::unconfirmed;
  }

  const bool in_order = replaying.in_sequence().first != nullptr;
  const ReplayCount& shown = in_order ? replaying.in_sequence() : replaying.alone();
  const Symptom& seen = shown.symptom;
  const Outcome* expected = runs.expected();

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
  if (replaying.barely_late()) finding.detail += "; within twice that it ends";
  finding.replay = fmt::format("{} replay {} --repeat {}{}", program,
                               fmt::join(finding.sequence, " "), repeat, suffix);
  if (order.size() > 1)
    finding.contrast = fmt::format("{} replay {}{}", program, finding.victim, suffix);
  finding.not_probed = executor.abilities().not_probed;
  if (*kind == Kind::order_dependent && finding.role == Role::victim)
    name_state(finding, order, *shown.first, executor, runs);
  done.finding = std::move(finding);
  return done;
}

}  // namespace parity
