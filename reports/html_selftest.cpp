// Would it have noticed? The rows of harness selftest.
#include <fmt/format.h>

#include <algorithm>

#include "reports/finding_sentence.hpp"
#include "reports/html_sections.hpp"
#include "reports/html_text.hpp"
#include "reports/selftest_writer.hpp"

namespace parity {
namespace {

std::string carrier_markup(const SelftestRow& row) {
  if (row.control || !row.applicable) return "";
  if (!row.found) return "";
  return row.carrier.empty() ? "unnamed" : html_code(row.carrier);
}

std::string table_of(const SelftestReport& report, std::size_t number) {
  HtmlTable table = {.id = fmt::format("selftest-table-{}", number),
                     .caption = fmt::format("Plants and clean controls on {}, {}", report.backend,
                                            report.device_name),
                     .columns = {{"Plant"},
                                 {"Class"},
                                 {"Result"},
                                 {"Sequence"},
                                 {"Carrier"},
                                 {"Grade or rate"},
                                 {"Executions", true},
                                 {"Starts", true},
                                 {"What is missing"},
                                 {"Command"}},
                     .rows = {}};
  for (const SelftestRow& row : report.rows) {
    const bool plant = row.applicable && !row.control;
    table.rows.push_back(
        {html_text(row.name), html_text(row.leak_class),
         html_badge(row.applicable ? result_word(row) : "not on this backend"),
         !plant      ? ""
         : row.exact ? "exact"
                     : "not exact",
         carrier_markup(row), !plant ? "" : html_text(row.rate.empty() ? row.grade : row.rate),
         row.applicable ? fmt::format("{}", row.executions) : "",
         row.applicable ? fmt::format("{}", row.process_starts) : "",
         html_text(row.missing + (row.missing.empty() || row.worker_error.empty() ? "" : "; ") +
                   row.worker_error),
         row.command.empty() ? ""
                             : fmt::format("<details><summary>Show<span class=\"unseen\"> the "
                                           "command of {}</span></summary>{}</details>",
                                           html_text(row.name), html_code(row.command))});
  }
  return html_table(table);
}

}  // namespace

HtmlSection selftest_section(const JoinedRuns& joined) {
  std::string markup;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < joined.selftests.size(); ++i) {
    const SelftestReport& report = joined.selftests[i].report;
    wrong += static_cast<std::size_t>(std::ranges::count_if(
        report.rows, [](const SelftestRow& row) { return row.applicable && !right(row); }));
    markup += fmt::format(
        "<p>{}{} of {} plants found, {} exactly named; {}{}.</p>\n",
        joined.selftests[i].source.empty() ? "" : html_text(joined.selftests[i].source) + ": ",
        report.plants_found(), report.plants(), report.plants_named(),
        plural(report.false_accusations(), "false accusation"),
        report.interrupted ? "; interrupted, the rest did not run" : "");
    markup += table_of(report, i + 1);
  }
  return {"selftest", "Selftest", markup, wrong == 0 ? "" : fmt::format("{} wrong", wrong)};
}

}  // namespace parity
