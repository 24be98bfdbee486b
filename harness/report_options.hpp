// What stands behind `harness report`. Private to the command line.
#pragma once

#include <memory>
#include <vector>

#include "harness/options.hpp"
#include "reports/report.hpp"

namespace CLI {
class App;
}

namespace parity {

/// A kind of file that reports can be written to.
struct ReportPage {
  const char* option;  ///< "--junit"
  const char* file;    ///< its name in the folder of a night
  const char* description;
  std::unique_ptr<ReportWriter> (*make)();
};

/// In the order of Options::report_pages.
const std::vector<ReportPage>& report_pages();

void add_report(CLI::App& report, Options& options);

}  // namespace parity
