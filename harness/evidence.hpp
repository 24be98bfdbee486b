// What the runs of a plan showed of each case, in plan order.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/orders.hpp"
#include "harness/outcome.hpp"

namespace parity {

/// One run of one case.
struct Sighting {
  std::size_t case_index = 0;
  std::size_t sequence = 0;
  std::size_t position = 0;  ///< how many ran before it or at the same time; 0: alone
  unsigned poison = 0;
  const Outcome* outcome = nullptr;
  std::size_t run = 0;  ///< among the runs of the sequence

  std::pair<std::size_t, std::size_t> plan_order() const { return {sequence, run}; }
};

/// Holds pointers into `results`, which must outlive it.
class Evidence {
 public:
  Evidence(std::size_t cases, std::span<const Sequence> sequences,
           std::span<const SequenceResult> results);

  /// Runs that came to an outcome (not_run is none), in plan order.
  const std::vector<Sighting>& of(std::size_t case_index) const {
    return sightings_.at(case_index);
  }

  /// What ran before, in order, then what ran at the same time.
  Order history(const Sighting& sighting) const;

  /// Runs at the same time as it, in plan order.
  std::vector<Sighting> company(const Sighting& sighting) const;

  /// Cells as cells_of() gives them.
  std::vector<CellSeen> cells(const Sighting& sighting, const Outcome* alone) const;

  /// Cases seen to touch the cell, in index order.
  std::vector<std::size_t> sharing(const std::string& carrier, const std::string& cell) const;

 private:
  struct Run {
    std::size_t case_index;
    const Outcome* outcome;
  };
  /// Those that `history` names.
  std::vector<Run> runs_with(const Sighting& sighting) const;
  std::vector<std::vector<Run>> runs_;  ///< per sequence, its run steps
  std::vector<std::vector<Sighting>> sightings_;
};

/// Cells of the last of `outcomes`, runs of one process in order: as probed; where it died before
/// it could answer, the cells it touches alone, with what the nearest earlier run saw of each.
std::vector<CellSeen> cells_of(const std::vector<const Outcome*>& outcomes, const Outcome* alone);

}  // namespace parity
