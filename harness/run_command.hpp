// One run within a session: plan, execute, judge, investigate.
#pragma once

#include <optional>

#include "harness/finding.hpp"
#include "harness/journal.hpp"
#include "harness/options.hpp"
#include "harness/session.hpp"

namespace parity {

struct RunDone {
  RunReport report;               ///< without what Session::publish() adds
  std::optional<JournalEnd> end;  ///< nothing: some of the plan is left to run
};

/// The session's cases in the orders that `options` ask for, their findings named.
RunDone run_cases(Session& session, const Options& options);

}  // namespace parity
