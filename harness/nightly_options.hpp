// What stands behind `harness nightly`. Private to the command line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace parity {

struct Options;

struct NightlyOptions {
  std::filesystem::path out;  ///< a new folder
  std::filesystem::path golden = "datasets/golden/smoke.h5";
  std::vector<std::string> only;             ///< files of steps (NightStep::file); none: all
  std::vector<std::filesystem::path> bench;  ///< Google Benchmark's JSON, shown on the page
};

void add_nightly(CLI::App& nightly, Options& options, std::string& budget);

}  // namespace parity
