// Looks at ambient state before and after runs: who reads it nobody says, but who changed it shows.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/carrier.hpp"
#include "harness/outcome.hpp"
#include "harness/protocol.hpp"

namespace parity {

class WorkerWatch {
 public:
  /// What the carriers hold now is what a fresh process holds. They must outlive it.
  explicit WorkerWatch(std::vector<const Carrier*> carriers);

  /// Right before the runs, in the host thread that answers requests.
  void begin();
  /// Right after them, in the same thread; adds to the cells of each outcome (harness/PROTOCOL.md,
  /// `cells`): what begin() found other than in a fresh process, then what the runs have changed.
  /// Of several runs at the same time nobody knows which did, so each is said to have.
  void end(std::span<const RunRequest> runs, std::span<Outcome> outcomes);

 private:
  using States = std::vector<std::vector<CellState>>;  ///< by carrier

  States look() const;

  std::vector<const Carrier*> carriers_;
  States fresh_;
  States last_;
  std::vector<CellSeen> found_;
  /// By carrier and cell, ids of the runs of which one changed it last; none for what no run did.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> writers_;
};

}  // namespace parity
