// How far results are off: by kernel and dtypes, and by pages per chunk.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "harness/symptom.hpp"
#include "reports/finding_sentence.hpp"
#include "reports/html_sections.hpp"
#include "reports/html_text.hpp"
#include "reports/plot.hpp"
#include "reports/reported_case.hpp"

namespace parity {
namespace {

constexpr std::size_t kRows = 48;  ///< kernels with dtypes that a plot has a line for

/// A case with its error over tolerance.
struct Measured {
  const CaseSummary* summary = nullptr;
  double share = 0;
};

std::vector<Measured> measured(const JoinedRuns& joined) {
  std::vector<Measured> all;
  for (const ReportedRun& run : joined.runs)
    for (const CaseSummary& summary : run.report.cases)
      if (const auto share = of_tolerance(summary)) all.push_back({&summary, *share});
  return all;
}

/// Cases of one kernel and its dtypes.
struct Group {
  std::string kernel;
  std::string dtypes;
  std::size_t cases = 0;
  Measured worst;
};

/// The worst first; then by name.
std::vector<Group> groups_of(const std::vector<Measured>& cases) {
  std::map<std::pair<std::string_view, std::string_view>, Group> by_name;
  for (const Measured& one : cases) {
    const std::string_view kernel = kernel_of(one.summary->id);
    const std::string_view dtypes = dtypes_of(one.summary->id);
    Group& group = by_name[{kernel, dtypes}];
    if (group.cases++ > 0 && !worse(one.share, group.worst.share)) continue;
    group.kernel = kernel;
    group.dtypes = dtypes;
    group.worst = one;
  }
  std::vector<Group> groups;
  for (auto& [names, group] : by_name) groups.push_back(std::move(group));
  std::ranges::stable_sort(groups, worse, [](const Group& group) { return group.worst.share; });
  return groups;
}

/// A line each while they are few, else one a kernel with a point for each of its dtypes.
RowPlot error_plot(const std::vector<Group>& groups) {
  RowPlot plot = {
      .name = "error-plot", .axis = "worst error / tolerance", .rows = {}, .bounded = true};
  std::map<std::string, std::vector<double>> kernels;
  for (const Group& group : groups) {
    if (groups.size() <= kRows)
      plot.rows.emplace_back(fmt::format("{} {}", group.kernel, group.dtypes),
                             std::vector<double>{group.worst.share});
    kernels[group.kernel].push_back(group.worst.share);
  }
  if (groups.size() > kRows)
    for (const auto& [kernel, shares] : kernels) plot.rows.emplace_back(kernel, shares);
  return plot;
}

std::string of_bound(const CaseSummary& summary) {
  double worst = 0;
  for (const OutputError& output : summary.outputs) worst = worse_error(worst, output.of_bound);
  return worst == 0 ? "" : html_figure(worst);
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Numbers by value, then words.
bool tick_before(const std::string& a, const std::string& b) {
  if (is_number(a) != is_number(b)) return is_number(a);
  if (is_number(a) && a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

/// Kernel and ppc of each case that has one.
using Chunked = std::map<std::pair<std::string, std::string>, std::vector<Measured>>;

Chunked chunked(const std::vector<Measured>& cases) {
  Chunked groups;
  for (const Measured& one : cases) {
    const std::string ppc(constant_of(one.summary->id, "ppc"));
    if (!ppc.empty()) groups[{std::string(kernel_of(one.summary->id)), ppc}].push_back(one);
  }
  return groups;
}

SeriesPlot ppc_plot(const Chunked& groups) {
  SeriesPlot plot = {.name = "ppc-plot",
                     .across = "ppc, pages per chunk",
                     .axis = "error / tolerance",
                     .ticks = {},
                     .series = {}};
  for (const auto& [names, cases] : groups) plot.ticks.push_back(names.second);
  std::ranges::sort(plot.ticks, tick_before);
  plot.ticks.erase(std::ranges::unique(plot.ticks).begin(), plot.ticks.end());
  for (const auto& [names, cases] : groups) {
    if (plot.series.empty() || plot.series.back().first != names.first)
      plot.series.emplace_back(names.first, std::vector<std::pair<std::size_t, double>>());
    const auto tick = std::ranges::find(plot.ticks, names.second) - plot.ticks.begin();
    for (const Measured& one : cases)
      plot.series.back().second.emplace_back(static_cast<std::size_t>(tick), one.share);
  }
  return plot;
}

HtmlTable ppc_table(const Chunked& groups, const std::vector<std::string>& ticks) {
  HtmlTable table = {
      .id = "ppc-table",
      .caption = "Error over tolerance by kernel and pages per chunk",
      .columns = {{"Kernel"}, {"ppc", true}, {"Cases", true}, {"Worst", true}, {"Worst case"}},
      .rows = {}};
  std::vector<std::string> kernels;
  for (const auto& [names, cases] : groups)
    if (kernels.empty() || kernels.back() != names.first) kernels.push_back(names.first);
  for (const std::string& kernel : kernels)
    for (const std::string& ppc : ticks) {
      const auto found = groups.find({kernel, ppc});
      if (found == groups.end()) continue;
      // The worst stands first in that order.
      const Measured worst = *std::ranges::min_element(
          found->second, worse, [](const Measured& one) { return one.share; });
      table.rows.push_back({html_text(kernel), html_text(ppc),
                            fmt::format("{}", found->second.size()), html_figure(worst.share),
                            html_code(worst.summary->id)});
    }
  return table;
}

}  // namespace

HtmlSection errors_section(const JoinedRuns& joined, Gnuplot& gnuplot) {
  const std::vector<Group> groups = groups_of(measured(joined));
  if (groups.empty())
    return {"errors", "Error by dtypes",
            joined.runs.empty() ? "" : "<p class=\"none\">No output was compared.</p>\n", ""};
  HtmlTable table = {.id = "error-table",
                     .caption = "Worst error over tolerance by kernel and dtypes, the worst first",
                     .columns = {{"Kernel"},
                                 {"Dtypes"},
                                 {"Cases", true},
                                 {"Worst", true},
                                 {"Of bound", true},
                                 {"Worst case"}},
                     .rows = {},
                     .sortable = true};
  std::size_t exact = 0;
  for (const Group& group : groups) {
    exact += group.worst.share == 0 ? 1 : 0;
    table.rows.push_back({html_text(group.kernel), html_code(group.dtypes),
                          fmt::format("{}", group.cases), html_figure(group.worst.share),
                          of_bound(*group.worst.summary), html_code(group.worst.summary->id)});
  }
  const Group& worst = groups.front();
  std::string caption = fmt::format(
      "{} of kernel and dtypes; {}. The worst is {} {}: {} times its tolerance. Dashed: the "
      "tolerance; beyond it a case fails.",
      plural(groups.size(), "combination"), groups.size() <= kRows ? "a line each" : "a point each",
      worst.kernel, worst.dtypes, short_number(worst.worst.share));
  if (exact > 0)
    caption +=
        fmt::format(" {} no error at all and stand{} at the left border.",
                    exact == 1 ? "1 has" : fmt::format("{} have", exact), exact == 1 ? "s" : "");
  const RowPlot plot = error_plot(groups);
  return {"errors", "Error by dtypes",
          html_plot(gnuplot, plot_script(plot), plot.name, "Worst error over tolerance", caption,
                    table),
          ""};
}

HtmlSection ppc_section(const JoinedRuns& joined, Gnuplot& gnuplot) {
  const std::vector<Measured> cases = measured(joined);
  const Chunked groups = chunked(cases);
  if (groups.empty())
    return {"ppc", "Error by ppc",
            joined.runs.empty() ? "" : "<p class=\"none\">No case here has an axis ppc.</p>\n", ""};
  const SeriesPlot plot = ppc_plot(groups);
  return {"ppc", "Error by ppc",
          html_plot(gnuplot, plot_script(plot), plot.name, "Error over tolerance by ppc",
                    "A point is a case; lines join the worst of each kernel. A result must not "
                    "depend on how a sequence is cut into chunks of pages, so the lines should be "
                    "level. Dashed: the tolerance.",
                    ppc_table(groups, plot.ticks)),
          ""};
}

}  // namespace parity
