// Writes the packs of a run: golden (with expected) for the parent, inputs only for the workers.
#pragma once

#include <filesystem>
#include <span>

#include "datasets/pack.hpp"
#include "harness/case.hpp"

namespace parity {

/// Inputs, reference, bounds of one case; refuses (UsageError naming case and answer) a case in
/// which a plausible wrong answer would pass at under 4 times the tolerance, unless it is
/// degenerate, or whose reference says it measures cancellation.
PackCase build_case(const Case& c);

struct PackPaths {
  std::filesystem::path golden;
  std::filesystem::path inputs;
};

/// Packs of exactly these cases in `folder`, named by the digest of build and ids; those already
/// there are taken when they can be read (a damaged one throws DatasetError: remove it and run
/// again).
PackPaths ensure_packs(std::span<const Case> cases, const std::filesystem::path& folder,
                       const Provenance& provenance);

}  // namespace parity
