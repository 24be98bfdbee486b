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
  std::size_t confirmations = 5;      ///< fresh processes that confirm a finding
  std::string replay_suffix;          ///< " --plant weak_module_key --backend host": appended to commands
  std::function<void(const std::string&)> progress;  ///< one line of what is being tried
};

struct Investigation {
  std::vector<CaseSummary> cases;     ///< in case order
  std::vector<Finding> findings;      ///< in plan order, order-dependent ones first
};

/// `sequences` and `results` are those of the plan, in plan order (never in arrival order).
Investigation investigate(std::span<const Case> cases, std::span<const Sequence> sequences,
                          std::span<const SequenceResult> results, Judge& judge, Executor& executor,
                          const InvestigateOptions& options);

}  // namespace parity
