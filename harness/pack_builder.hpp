// Writes the packs of a run: golden (with expected) for the parent, inputs only for the workers.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "datasets/pack.hpp"
#include "harness/case.hpp"

namespace parity {

/// Raised when any reference gives other expected values than before.
inline constexpr std::string_view kReferenceVersion = "1";

/// Inputs, reference, bounds of one case, without asking whether it can tell right from wrong.
PackCase compute_case(const Case& c);

/// What compute_case() gives; refuses (UsageError naming case and answer) a case in
/// which a plausible wrong answer would pass at under 4 times the tolerance, unless it is
/// degenerate, or whose reference says it measures cancellation.
PackCase build_case(const Case& c);

/// Computes cases in several threads and hands them on, one after another, in their order. Throws
/// what the first case that cannot be built throws.
void build_cases(std::span<const Case> cases, const std::function<PackCase(const Case&)>& build,
                 const std::function<void(PackCase)>& take);

struct PackPaths {
  std::filesystem::path golden;
  std::filesystem::path inputs;
};

/// Packs of exactly these cases in `folder`, named by the digest of build and ids; those already
/// there are taken when they can be read (a damaged one throws DatasetError: remove it and run
/// again). `made` is told how many cases are computed, after each; what it throws ends it, and
/// leaves no pack.
PackPaths ensure_packs(std::span<const Case> cases, const std::filesystem::path& folder,
                       const Provenance& provenance,
                       const std::function<void(std::size_t)>& made = nullptr);

}  // namespace parity
