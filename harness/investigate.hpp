// From outcomes to findings: baseline, classify, cluster by cell, shrink, attribute, confirm.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/case.hpp"
#include "harness/finding.hpp"
#include "harness/judge.hpp"
#include "harness/outcome.hpp"

namespace parity {

struct InvestigateOptions {
  std::size_t confirmations = 5;  ///< fresh processes that confirm a finding; at least 1
  /// The worker is not the built-in one: the registry's launch functions are not what it calls.
  bool foreign_worker = false;
  std::string program = "harness";  ///< as the person called it; opens the replay commands
  std::string replay_suffix;  ///< " --plant weak_module_key --backend host": ends the commands
  std::function<void(const std::string&)> progress;  ///< one line of what is being tried
  std::function<void(std::size_t)> found;            ///< findings so far
};

struct Investigation {
  /// In case order, of the plan's own runs. verdict: the worst over all of them, so a case that is
  /// wrong only after others shows as failed; error: the worst; runs: those with an answer.
  std::vector<CaseSummary> cases;
  /// Order-dependent ones first, then the shortest sequence, the nearest pair, plan order.
  std::vector<Finding> findings;
};

/// `sequences` and `results` are those of the plan, in plan order (never in arrival order). A
/// case's outcome in position 0 of a process is its baseline; one that the plan never had there and
/// that went wrong or gave different results is run alone. Where nothing differs, nothing is run.
Investigation investigate(std::span<const Case> cases, std::span<const Sequence> sequences,
                          std::span<const SequenceResult> results, Judge& judge, Executor& executor,
                          const InvestigateOptions& options);

}  // namespace parity
