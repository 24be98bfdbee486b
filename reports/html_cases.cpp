// Every case of every run, with a filter that page.js brings to life.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "reports/finding_sentence.hpp"
#include "reports/html_sections.hpp"
#include "reports/html_text.hpp"
#include "reports/reported_case.hpp"

namespace parity {
namespace {

struct Row {
  std::size_t run = 0;
  const CaseSummary* summary = nullptr;
};

/// What did not pass stands first; else in the order of the runs.
std::vector<Row> rows_of(const JoinedRuns& joined) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < joined.runs.size(); ++i)
    for (const CaseSummary& summary : joined.runs[i].report.cases) rows.push_back({i, &summary});
  std::ranges::stable_partition(
      rows, [](const Row& row) { return row.summary->verdict != Verdict::passed; });
  return rows;
}

/// Hidden until page.js is there: without it every case is shown, and nothing seems to work.
std::string filter_markup(const std::vector<Row>& rows) {
  std::set<Verdict> verdicts;
  for (const Row& row : rows) verdicts.insert(row.summary->verdict);
  std::string options = "<option value=\"\">every verdict</option>";
  for (const Verdict verdict : verdicts)
    options += fmt::format("<option value=\"{0}\">{0}</option>", name(verdict));
  return fmt::format(
      "<form id=\"filter\" role=\"search\" aria-label=\"Filter cases\" hidden=\"hidden\">\n"
      "<label for=\"filter-text\">Filter cases</label>\n"
      "<input id=\"filter-text\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\" "
      "placeholder=\"paged_decode_v2 k=bf16 !tuned\" aria-describedby=\"filter-help\"/>\n"
      "<label for=\"filter-verdict\">Verdict</label>\n"
      "<select id=\"filter-verdict\">{}</select>\n"
      "<output id=\"filter-count\" role=\"status\" aria-live=\"polite\">{}</output>\n"
      "<p id=\"filter-help\">Words that the id must hold; with ! in front, that it must not "
      "hold.</p>\n</form>\n",
      options, plural(rows.size(), "case"));
}

std::string outputs_markup(const CaseSummary& summary) {
  std::string text;
  for (const OutputError& output : summary.outputs)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", html_text(output.name),
                        html_figure(output.error));
  return text;
}

}  // namespace

HtmlSection cases_section(const JoinedRuns& joined) {
  const std::vector<Row> rows = rows_of(joined);
  if (rows.empty())
    return {"cases", "All cases", joined.runs.empty() ? "" : "<p class=\"none\">No cases.</p>\n",
            ""};
  const bool several = joined.runs.size() > 1;
  HtmlTable table = {.id = "case-table",
                     .caption = "All cases; error is that of the worst output",
                     .columns = {{"Case"},
                                 {"Verdict"},
                                 {"Error / tolerance", true},
                                 {"Error", true},
                                 {"Tolerance", true},
                                 {"Runs", true},
                                 {"Distinct bits", true},
                                 {"Outputs"},
                                 {"Detail"}},
                     .rows = {},
                     .row_attributes = {},
                     .sortable = true};
  if (several) table.columns.push_back({"Run"});
  for (const Row& row : rows) {
    const CaseSummary& summary = *row.summary;
    const auto share = of_tolerance(summary);
    table.rows.push_back({html_code(summary.id), html_badge(name(summary.verdict)),
                          share ? html_figure(*share) : "", share ? html_figure(summary.error) : "",
                          share ? html_figure(summary.tolerance) : "",
                          fmt::format("{}", summary.runs), fmt::format("{}", summary.distinct_bits),
                          outputs_markup(summary), html_text(summary.detail)});
    if (several) table.rows.back().push_back(html_text(run_name(joined, row.run)));
    table.row_attributes.push_back(fmt::format(" data-verdict=\"{}\"", name(summary.verdict)));
  }
  return {"cases", "All cases", filter_markup(rows) + html_table(table),
          fmt::format("{}", rows.size())};
}

}  // namespace parity
