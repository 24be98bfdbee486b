// The parts of the HTML page, each made from the joined runs by itself.
#pragma once

#include <string>
#include <string_view>

#include "reports/gnuplot.hpp"
#include "reports/html_table.hpp"
#include "reports/joined_runs.hpp"

namespace parity {

struct HtmlSection {
  std::string id;       ///< of the section; unique on the page
  std::string heading;  ///< text
  std::string body;     ///< markup; empty: the page goes without the section
  std::string count;    ///< text beside its link: "25"; may be empty
};

/// Text: "3 of 64 cases passed, 61 failed; 25 findings (planted: weak_module_key)".
std::string verdict_sentence(const JoinedRuns& joined);
/// Markup of the page's head: verdict, sentence, first finding, key figures.
std::string html_headline(const JoinedRuns& joined);

HtmlSection steps_section(const JoinedRuns& joined);
HtmlSection runs_section(const JoinedRuns& joined);
HtmlSection findings_section(const JoinedRuns& joined);
HtmlSection heat_map_section(const JoinedRuns& joined, Gnuplot& gnuplot);
HtmlSection errors_section(const JoinedRuns& joined, Gnuplot& gnuplot);
HtmlSection ppc_section(const JoinedRuns& joined, Gnuplot& gnuplot);
HtmlSection times_section(const JoinedRuns& joined, Gnuplot& gnuplot);
HtmlSection coverage_section(const JoinedRuns& joined);
HtmlSection selftest_section(const JoinedRuns& joined);
HtmlSection environment_section(const JoinedRuns& joined);
HtmlSection cases_section(const JoinedRuns& joined);

/// Text that tells one run from the others: its source, or its number.
std::string run_name(const JoinedRuns& joined, std::size_t index);

/// Carriers that nobody looked at: the report's, or, of one that was read from a file and has none,
/// those of its first finding. Empty: not told.
std::vector<std::string> not_probed(const RunReport& report);

/// Markup of a word with a colour and a sign of its own: "passed", "failed", "order_dependent".
std::string html_badge(std::string_view word);

/// Markup of a plot with its caption (text), and of the same as a table; of the table alone, with
/// the reason, where gnuplot draws nothing.
std::string html_plot(Gnuplot& gnuplot, const std::string& script, std::string_view name,
                      std::string_view title, std::string_view caption, const HtmlTable& table);

}  // namespace parity
