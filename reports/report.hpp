// Writers of a run's report, behind one interface.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>

#include "reports/joined_runs.hpp"

namespace parity {

class ReportWriter {
 public:
  virtual ~ReportWriter() = default;
  virtual void write(const JoinedRuns& joined, std::ostream& out) const = 0;
  /// One run by itself.
  void write(const RunReport& report, std::ostream& out) const;
};

/// What a person at a terminal reads: verdict, findings as one sentence each with their replay
/// commands, coverage, and what is not probed. Several runs stand one below the other,
/// then selftests, steps and times.
std::unique_ptr<ReportWriter> make_console_writer(bool colour);

/// Schema parity.run/1; non-finite numbers are strings ("nan", "inf", "-inf"). Byte-equal for equal
/// reports. Throws std::logic_error unless there is exactly one run.
std::unique_ptr<ReportWriter> make_json_writer();

/// One page that needs no network: verdict, findings as cards, plots, coverage, environment, and
/// all cases with a filter. Plots come from gnuplot; without it the page says so and shows tables.
/// Byte-equal for equal runs and the same gnuplot.
std::unique_ptr<ReportWriter> make_html_writer();

/// JUnit's XML for CI pages: a suite for each run and selftest, one for all steps. A case that any
/// finding names fails, whatever its own verdict; `untrusted` fails; what is of no case (a worker
/// error, a stop) is an error of a test case of its own. Valid against tests/junit.xsd.
std::unique_ptr<ReportWriter> make_junit_writer();

/// The job summary of a CI page, in GitHub's Markdown: below 1 MiB whatever it has to say, which
/// then ends in "and N more".
std::unique_ptr<ReportWriter> make_markdown_writer();

/// Writes to a temporary name beside `path`, then renames. Throws DatasetError when it cannot.
void write_report(const std::string& text, const std::filesystem::path& path);
void write_report(const ReportWriter& writer, const RunReport& report,
                  const std::filesystem::path& path);
void write_report(const ReportWriter& writer, const JoinedRuns& joined,
                  const std::filesystem::path& path);

}  // namespace parity
