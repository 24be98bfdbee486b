// What harness nightly runs: each step is a command that a person could type.
#pragma once

#include <string>
#include <vector>

#include "harness/options.hpp"

namespace parity {

struct NightStep {
  std::string name;                ///< "permuted smoke"
  std::string file;                ///< "smoke": names its files in the night's folder, and --only
  std::vector<std::string> words;  ///< behind the program
  bool writes_json = false;
  bool keeps_journal = false;  ///< cut off, it can be gone on with
  bool verdict_first = false;  ///< the line that sums it up is its first, else its last
};

/// In the order in which they run. Throws UsageError for an unknown word of --only.
std::vector<NightStep> night_steps(const Options& options);

/// "audit, full, smoke, golden, selftest"
std::string night_step_files();

}  // namespace parity
