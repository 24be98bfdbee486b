// One line a case: the worst that was seen of it.
#pragma once

#include <span>
#include <vector>

#include "harness/case.hpp"
#include "harness/evidence.hpp"
#include "harness/finding.hpp"
#include "harness/judge.hpp"

namespace parity {

/// In case order, over all runs of `evidence`: worst verdict and error, runs that came to an
/// outcome, and how many different sets of bits they gave.
std::vector<CaseSummary> summarize(std::span<const Case> cases, const Evidence& evidence,
                                   Judge& judge);

}  // namespace parity
