#include "reports/markdown_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/shown_text.hpp"

namespace parity {
namespace {

/// Never inside of a character of UTF-8.
std::string_view cut(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return text;
  while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xc0u) == 0x80u) --longest;
  return text.substr(0, longest);
}

std::size_t longest_run_of_backticks(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string markdown_text(std::string_view text, std::size_t longest) {
  constexpr std::string_view kMarks = "\\`*_[]|~$";
  std::string out;
  for (const char c : shown_line(cut(text, longest))) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (kMarks.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return text.size() > longest ? out + " ..." : out;
}

std::string markdown_code(std::string_view text, std::size_t longest) {
  if (text.empty()) return "";
  std::string inside;
  for (const char c : shown_line(cut(text, longest))) {
    if (c == '|') inside += '\\';  // a table is cut into cells before spans are seen
    inside += c;
  }
  if (text.size() > longest) inside += " ...";
  const std::string fence(longest_run_of_backticks(inside) + 1, '`');
  const bool touches = inside.front() == '`' || inside.back() == '`';
  return fence + (touches ? " " + inside + " " : inside) + fence;
}

std::string markdown_command(std::string_view command, std::size_t longest) {
  if (command.size() > longest)
    return fmt::format(
        "(a command of {} bytes, too long for this page: the JSON report holds it)\n",
        command.size());
  const std::string shown = shown_lines(command);
  const std::string fence(std::max<std::size_t>(3, longest_run_of_backticks(shown) + 1), '`');
  return fmt::format("{0}sh\n{1}\n{0}\n", fence, shown);
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += fmt::format(" {} |", cell);
  return row + "\n";
}

std::string markdown_heading(const std::vector<std::string>& names) {
  return markdown_row(names) + markdown_row(std::vector<std::string>(names.size(), "---"));
}

}  // namespace parity
