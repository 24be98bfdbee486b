// harness report: files that were written, joined and shown again. It judges nothing: its exit code
// says whether the pages were written.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <sstream>

#include "datasets/errors.hpp"
#include "harness/commands.hpp"
#include "harness/report_options.hpp"
#include "harness/shown_text.hpp"
#include "harness/writable.hpp"
#include "reports/report_reader.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

/// Files alone: two pages may well go to one device.
bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code failed;
  const fs::file_status status = fs::status(a, failed);
  if (fs::exists(status) && !fs::is_regular_file(status)) return false;
  if (fs::equivalent(a, b, failed)) return true;
  return fs::weakly_canonical(a, failed) == fs::weakly_canonical(b, failed);
}

/// Before anything is read, so that nothing is lost.
void check_pages(const Options& options) {
  const std::vector<fs::path>& pages = options.report_pages;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (pages[i].empty()) continue;
    const char* const option = report_pages()[i].option;
    for (const fs::path& file : options.report_files)
      if (same_file(pages[i], file))
        throw UsageError(fmt::format("{} {}: is one of the files that are read; name another",
                                     option, pages[i].string()));
    for (std::size_t other = 0; other < i; ++other)
      if (!pages[other].empty() && same_file(pages[i], pages[other]))
        throw UsageError(fmt::format("{} {}: is the file of {} too; name another", option,
                                     pages[i].string(), report_pages()[other].option));
    check_writable(option, pages[i]);
  }
}

}  // namespace

int report_command(const Options& options) {
  check_pages(options);
  JoinedRuns joined;
  joined.commit = options.commit;
  for (const fs::path& file : options.report_files) read_into(joined, file);
  bool written = false;
  for (std::size_t i = 0; i < options.report_pages.size(); ++i) {
    if (options.report_pages[i].empty()) continue;
    write_report(*report_pages()[i].make(), joined, options.report_pages[i]);
    written = true;
  }
  if (written) return 0;
  // Unlike a run's own words, a file's may hold what moves a cursor, so none of it is in colour.
  std::ostringstream text;
  make_console_writer(false)->write(joined, text);
  std::cout << shown_lines(text.str()) << std::flush;
  return 0;
}

}  // namespace parity
