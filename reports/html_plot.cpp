// A plot, and the same as a table.
#include <fmt/format.h>

#include "reports/html_sections.hpp"
#include "reports/html_text.hpp"
#include "reports/plot.hpp"

namespace parity {

std::string html_plot(Gnuplot& gnuplot, const std::string& script, std::string_view name,
                      std::string_view title, std::string_view caption, const HtmlTable& table) {
  std::optional<std::string> drawn;
  std::string missing;
  if (const auto svg = gnuplot.draw(script)) {
    drawn = plot_markup(*svg, name, title, caption);
    if (!drawn) missing = "what it wrote is no plot that this page takes";
  } else {
    missing = gnuplot.missing();
  }
  if (!drawn)
    return fmt::format("<p class=\"note\">No plots: tables instead ({}).</p>\n{}",
                       html_text(missing), html_table(table));
  return fmt::format(
      "<figure>\n<div class=\"canvas\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\n{1}"
      "</div>\n<figcaption>{2}</figcaption>\n</figure>\n"
      "<details><summary>{3} as a table</summary>\n{4}</details>\n",
      html_text(title), *drawn, html_text(caption), html_text(title), html_table(table));
}

}  // namespace parity
