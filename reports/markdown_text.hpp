// Words from anywhere inside a Markdown page (GitHub's dialect): they stay words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace parity {

/// On one line, with nothing in it that marks anything up, at a line's begin neither; cut behind
/// `longest` bytes or so. Bars are left to markdown_row.
std::string markdown_text(std::string_view text, std::size_t longest = 2000);

/// `text` in a code span.
std::string markdown_code(std::string_view text, std::size_t longest = 300);

/// A fenced block. Nobody can use a command that is cut: one longer than `longest` is replaced by
/// words that say so.
std::string markdown_command(std::string_view command, std::size_t longest = 20000);

/// A span of code under the same rule.
std::string markdown_inline_command(std::string_view command, std::size_t longest = 2000);

/// "| a | b |" of cells that are Markdown already; a bar in a cell does not end it.
std::string markdown_row(const std::vector<std::string>& cells);
/// The first two lines of a table.
std::string markdown_heading(const std::vector<std::string>& names);

}  // namespace parity
