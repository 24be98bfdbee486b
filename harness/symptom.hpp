// What an outcome shows: the judge's word, or other bits than the case gives alone.
#pragma once

#include <string>

#include "harness/judge.hpp"
#include "harness/outcome.hpp"

namespace parity {

/// failed, error, crashed, timed_out: wrong by itself, whatever ran before.
bool is_bad(Verdict verdict);

/// crash, timeout, error: a process that is starved of time, out of memory or killed by others
/// shows these, too. Seen once, they say nothing about the order.
bool machine_may_show(Fingerprint fingerprint);

/// crash, timeout.
bool ends_process(Fingerprint fingerprint);

struct Symptom {
  Fingerprint fingerprint = Fingerprint::none;  ///< none: well
  Judgement judgement;                          ///< by reference and hygiene
  std::string detail;                           ///< what is wrong or different, one line
  /// False for a step that was never reached: it shows nothing, not even a well case.
  bool ran = false;
};

/// `alone` is the case's outcome in position 0 of a fresh process, null when unknown. A bad
/// judgement goes first; then a refusal where alone there was none (`error`), a result where alone
/// there was none or other bits at an equal plan (`bits`), or another plan (`plan`), unless timing
/// chose one of the two. `noise_permitted`: other bits are none.
Symptom symptom_of(const Judgement& judgement, const Outcome& outcome, const Outcome* alone,
                   bool noise_permitted);

/// The worse of two errors; NaN is the worst.
double worse_error(double a, double b);

}  // namespace parity
