#include "harness/report_options.hpp"

#include <CLI/CLI.hpp>

#include "harness/shared_options.hpp"

namespace parity {
const std::vector<ReportPage>& report_pages() {
  static const std::vector<ReportPage> pages = {
      {"--html", "index.html", "Write one page for a browser here, with plots by gnuplot",
       make_html_writer},
      {"--junit", "junit.xml", "Write JUnit's XML here, for CI pages", make_junit_writer},
      {"--markdown", "summary.md", "Write a job summary here, in Markdown", make_markdown_writer}};
  return pages;
}

void add_report(CLI::App& report, Options& options) {
  report
      .add_option("file", options.report_files,
                  "JSON of runs, selftests, nights, or parity_bench (--benchmark_out)")
      ->required()
      ->check(not_empty());
  options.report_pages.resize(report_pages().size());
  for (std::size_t i = 0; i < report_pages().size(); ++i)
    report
        .add_option(report_pages()[i].option, options.report_pages[i],
                    report_pages()[i].description)
        ->check(not_empty());
  report.add_option("--commit", options.commit, "Commit of the source tree, as the pages name it")
      ->check(not_empty());
}

}  // namespace parity
