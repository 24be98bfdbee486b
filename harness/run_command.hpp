// One run within a session: plan, execute, judge, investigate.
#pragma once

#include "harness/finding.hpp"
#include "harness/options.hpp"
#include "harness/session.hpp"

namespace parity {

struct RunDone {
  RunReport report;    ///< without what Session::publish() adds
  bool whole = false;  ///< nothing of the plan is left to run
};

/// The session's cases in the orders that `options` ask for, their findings named.
RunDone run_cases(Session& session, const Options& options);

}  // namespace parity
