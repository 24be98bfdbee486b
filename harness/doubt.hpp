// Cases whose behaviour no cell explains, and whom their own runs make suspect.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "harness/case.hpp"
#include "harness/cluster.hpp"
#include "harness/evidence.hpp"
#include "harness/suspicion.hpp"

namespace parity {

/// The runs that went another way than alone, and the ones that did not, both in plan order.
struct Doubt {
  Role role = Role::victim;
  Fingerprint alone = Fingerprint::none;  ///< brittle: what it shows alone
  std::vector<Shown> shown;
  std::vector<Sighting> plain;
};

using Doubts = std::map<std::size_t, Doubt>;  ///< by case

/// Cases that ran before some shown run and before no plain one: the polluter is among them if it
/// is one case alone and nothing undoes it. Those that ran before every shown run come first, then
/// the nearest.
std::vector<std::size_t> lasting_suspects(std::span<const Case> cases, const Evidence& evidence,
                                          std::size_t victim, const Doubt& doubt);

/// Cases that ran before every shown run, in index order; none where there is one shown run only.
std::vector<std::size_t> common_cases(const Evidence& evidence, const std::vector<Shown>& shown);

/// The doubt to pursue next: the one with the nearest lasting suspect, then the one with the
/// shortest history, then in plan order. Requires a doubt; each has a shown run.
Suspicion most_telling(std::span<const Case> cases, const Evidence& evidence, const Doubts& doubts);

}  // namespace parity
