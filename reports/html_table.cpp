// Tables with captions and headings that a screen reader can tell.
#include "reports/html_table.hpp"

#include <fmt/format.h>

#include "reports/html_text.hpp"

namespace parity {
namespace {

std::string_view of_kind(const HtmlColumn& column) {
  return column.numeric ? " class=\"number\"" : "";
}

std::string row_markup(const HtmlTable& table, std::size_t index) {
  std::string markup = "<tr";
  if (index < table.row_attributes.size()) markup += table.row_attributes[index];
  markup += '>';
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string_view kind = of_kind(table.columns[i]);
    markup += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", kind, table.rows[index].at(i))
                     : fmt::format("<td{}>{}</td>", kind, table.rows[index].at(i));
  }
  return markup + "</tr>\n";
}

}  // namespace

std::string html_table(const HtmlTable& table) {
  std::string markup = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"{0}-caption\">\n"
      "<table id=\"{0}\"{1}>\n<caption id=\"{0}-caption\">{2}</caption>\n<thead><tr>",
      table.id, table.sortable ? " class=\"sortable\"" : "", html_text(table.caption));
  for (const HtmlColumn& column : table.columns)
    markup +=
        fmt::format("<th scope=\"col\"{}>{}</th>", of_kind(column), html_text(column.heading));
  markup += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) markup += row_markup(table, i);
  return markup + "</tbody>\n</table>\n</div>\n";
}

std::string html_list(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string markup = "<dl>\n";
  for (const auto& [label, value] : entries)
    markup += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_text(label), value);
  return markup + "</dl>\n";
}

}  // namespace parity
