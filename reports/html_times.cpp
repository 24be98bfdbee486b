// Time of each kernel, from Google Benchmark's JSON.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/finding_sentence.hpp"
#include "reports/html_sections.hpp"
#include "reports/html_text.hpp"
#include "reports/plot.hpp"

namespace parity {
namespace {

constexpr std::size_t kRows = 48;

std::string time_words(double nanoseconds) {
  if (nanoseconds >= 1e9) return fmt::format("{:.2f} s", nanoseconds / 1e9);
  if (nanoseconds >= 1e6) return fmt::format("{:.2f} ms", nanoseconds / 1e6);
  if (nanoseconds >= 1e3) return fmt::format("{:.2f} us", nanoseconds / 1e3);
  return fmt::format("{:.0f} ns", nanoseconds);
}

/// By kernel and dtypes, or, where these are too many, by kernel; by device where there are
/// several.
RowPlot time_plot(const std::vector<KernelTime>& times) {
  const bool several = std::ranges::any_of(times, [&](const KernelTime& time) {
    return device_text(time) != device_text(times.front());
  });
  std::map<std::string, std::vector<double>> finer;
  std::map<std::string, std::vector<double>> coarser;
  for (const KernelTime& time : times) {
    const std::string device = several ? " " + device_text(time) : "";
    const std::string dtypes = time.dtypes.empty() ? "" : " " + time.dtypes;
    finer[time.kernel + dtypes + device].push_back(time.nanoseconds / 1e3);
    coarser[time.kernel + device].push_back(time.nanoseconds / 1e3);
  }
  RowPlot plot = {.name = "time-plot", .axis = "time of one launch, us", .rows = {}};
  for (const auto& [label, values] : finer.size() > kRows ? coarser : finer)
    plot.rows.emplace_back(label, values);
  return plot;
}

}  // namespace

HtmlSection times_section(const JoinedRuns& joined, Gnuplot& gnuplot) {
  if (joined.times.empty())
    return {
        "times", "Times",
        "<p class=\"none\">No times were given. Let <code>parity_bench "
        "--benchmark_out=bench.json</code> write them, then "
        "<code>harness report run.json bench.json --html page.html</code> shows them here.</p>\n",
        ""};
  HtmlTable table = {
      .id = "time-table",
      .caption = "Time of one launch, by benchmark",
      .columns =
          {{"Benchmark"}, {"Kernel"}, {"Dtypes"}, {"Device"}, {"Time", true}, {"Of ceiling", true}},
      .rows = {},
      .sortable = true};
  for (const KernelTime& time : joined.times)
    table.rows.push_back(
        {html_code(time.benchmark), html_text(time.kernel),
         time.dtypes.empty() ? "not told" : html_code(time.dtypes),
         device_text(time).empty() ? "not told" : html_text(device_text(time)),
         fmt::format("<data value=\"{:.17g}\">{}</data>", time.nanoseconds,
                     time_words(time.nanoseconds)),
         time.of_ceiling > 0 ? fmt::format("{:.0f} %", time.of_ceiling * 100) : "not known"});
  const RowPlot plot = time_plot(joined.times);
  return {"times", "Times",
          html_plot(gnuplot, plot_script(plot), plot.name, "Time by kernel",
                    fmt::format("{}, a point each. Of ceiling: the time in which the same device "
                                "reads as many bytes once, as a share of the kernel's.",
                                plural(joined.times.size(), "benchmark")),
                    table),
          ""};
}

}  // namespace parity
