// Sorts what victims showed by the cell that explains it, so that one leak is shrunk once.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/case.hpp"
#include "harness/evidence.hpp"
#include "harness/trials.hpp"

namespace parity {

struct CellName {
  std::string carrier;
  std::string cell;
  auto operator<=>(const CellName&) const = default;
};

/// A run of a victim that went another way than alone, and the case that wrote the cell it read.
struct Shown {
  Sighting sighting;
  Fingerprint fingerprint = Fingerprint::none;
  std::size_t writer = 0;  ///< only in a cell's cluster
};

using CellVictims = std::map<std::size_t, std::vector<Shown>>;  ///< by victim, runs in plan order

struct Explanation {
  std::map<CellName, CellVictims> clusters;
  CellVictims unexplained;
};

/// Symptoms of the victims' runs against their outcome alone. A run is explained by a cell that was
/// built for something else than it was used for; failing that, a victim is explained by a cell
/// that another case had written whenever the victim went wrong and that none of these writers had
/// when it was well.
Explanation explain(std::span<const Case> cases, const std::vector<std::size_t>& victims,
                    const Evidence& evidence, Trials& trials);

/// Polluter and victim of the cluster that tell most: nearest to each other, a wrong answer before
/// mere other bits, then in case order. Requires a cluster with a victim.
Shown most_telling(std::span<const Case> cases, const CellVictims& victims);

/// Single polluters to try for `victim` of the cluster: the writers it was seen to suffer from,
/// nearest first, `first` foremost; then the nearest other cases of the cell. At most four.
std::vector<std::size_t> cell_suspects(std::span<const Case> cases, const CellVictims& victims,
                                       std::size_t victim, std::size_t first,
                                       const std::vector<std::size_t>& sharing);

/// `candidates` by distance from `to`, then in index order, each once.
std::vector<std::size_t> nearest_first(std::span<const Case> cases, std::size_t to,
                                       std::vector<std::size_t> candidates);

}  // namespace parity
