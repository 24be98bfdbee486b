// Text from anywhere as text of an HTML page. What returns "markup" is already escaped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace parity {

/// On one line, safe in elements and in quoted attributes, and well-formed as XML too. Bytes that
/// are not UTF-8, control characters and those that turn the direction of text show as \xHH.
std::string html_text(std::string_view text);

/// Markup of a word of code: `<code>...</code>`. An id may break after each of its parts.
std::string html_code(std::string_view text);

/// Markup of words of code on one line: "a, b", or "none".
std::string html_codes(const std::vector<std::string>& words);

/// Markup of a link to another part of the page.
std::string html_link(std::string_view target, std::string_view text);

/// "0.31", "1.7e4", "0", "inf": a figure of a table.
std::string html_figure(double value);

}  // namespace parity
