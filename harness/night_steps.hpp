// What harness nightly runs: each step is a command that a person could type.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/options.hpp"

namespace parity {

struct NightStep {
  std::string name;                ///< "permuted smoke"
  std::string file;                ///< "smoke": names its files in the night's folder, and --only
  std::vector<std::string> words;  ///< behind the program
  bool writes_json = false;
  std::optional<Suite> suite = {};   ///< of a run; cut off, it can be gone on with
  std::filesystem::path reads = {};  ///< golden data; empty: it needs none
  bool verdict_first = false;        ///< the line that sums it up is its first, else its last
};

/// Whether a step that ended with this exit code has judged all it was to judge: with any other it
/// was killed, called wrongly or stopped, or had no device.
bool has_verdict(int exit_code);

/// In the order in which they run. Throws UsageError for an unknown word of --only.
std::vector<NightStep> night_steps(const Options& options);

/// "audit, full, smoke, golden, selftest"
std::string night_step_files();

}  // namespace parity
