// The runs of a replay: a sequence and its last case alone, in turn, and how often either diverged.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/finding.hpp"
#include "harness/judge.hpp"
#include "harness/orders.hpp"
#include "harness/outcome.hpp"
#include "harness/symptom.hpp"

namespace parity {

/// Divergences of the last case, on one side.
struct ReplayCount {
  Rate rate;
  const Outcome* first = nullptr;  ///< the first that diverged, and what it showed
  Symptom symptom;
  bool machine = false;  ///< a starved machine may show what one of those that diverged did
  bool late = false;     ///< one of them did not end in time
  bool ended = false;    ///< one of them ended the process
};

/// All runs so far; a sequence of one case is both sides. The order must outlive it.
class ReplayRuns {
 public:
  ReplayRuns(const Order& order, Judge& judge, Executor& executor)
      : order_(order), judge_(judge), executor_(executor) {}

  /// Runs so many more of each, then counts all.
  void run_in_turn(std::size_t in_order, std::size_t alone);
  /// What ran until now counts no more; what runs from now on has this patience.
  void begin_anew(std::size_t patience_in_order, std::size_t patience_alone);

  bool one_case() const { return order_.size() == 1; }
  std::size_t asked_in_order() const { return asked_in_order_; }
  std::size_t asked_alone() const { return asked_alone_; }
  const ReplayCount& in_sequence() const { return in_sequence_; }
  const ReplayCount& alone() const { return alone_; }
  /// What the case gives when it is well and alone: the commonest result; null when it never was.
  const Outcome* expected() const { return expected_; }
  /// Of the last case, against that.
  Symptom compare(const Outcome& outcome) const;

  /// Every run, those that do not count too. Outcomes stay where they are when these are moved.
  std::vector<Sequence> sequences;
  std::vector<SequenceResult> results;

 private:
  bool is_alone(const Sequence& sequence) const;
  void count_all();
  void count(ReplayCount& counted, std::size_t run) const;

  const Order& order_;
  Judge& judge_;
  Executor& executor_;
  std::size_t asked_in_order_ = 0;
  std::size_t asked_alone_ = 0;
  std::size_t patience_in_order_ = 1;
  std::size_t patience_alone_ = 1;
  std::size_t counted_from_ = 0;
  const Outcome* expected_ = nullptr;
  ReplayCount in_sequence_;
  ReplayCount alone_;
};

}  // namespace parity
