// A table of the page: caption, columns with their headings, rows of markup.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace parity {

struct HtmlColumn {
  std::string heading;   ///< text
  bool numeric = false;  ///< figures stand under each other, at the right
};

struct HtmlTable {
  std::string id;       ///< of the table; unique on the page
  std::string caption;  ///< text: what its rows are
  std::vector<HtmlColumn> columns;
  /// Markup, one a column. The first cell of a row is its heading.
  std::vector<std::vector<std::string>> rows;
  /// Markup put into the row's tag, parallel to `rows`; may be shorter.
  std::vector<std::string> row_attributes = {};
  bool sortable = false;  ///< page.js offers to sort it by its columns
};

/// Markup. On a narrow page the table scrolls by itself, by keyboard too.
std::string html_table(const HtmlTable& table);

/// Pairs of label (text) and value (markup) as a description list.
std::string html_list(const std::vector<std::pair<std::string, std::string>>& entries);

}  // namespace parity
