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

/// Shows nothing, and ends the word that it stands in: GitHub looks for links, people and faces
/// when backslashes are gone already.
constexpr std::string_view kSplit = "<!-- -->";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_alphanumeric(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Whether GitHub makes something else of a word unless it is split behind the character at `at`:
/// a link (https://a, www.a, a@b, #1), a person (@a) or a face (:a:).
bool needs_split(std::string_view line, std::size_t at) {
  const std::string_view rest = line.substr(at + 1);
  const char next = rest.empty() ? ' ' : rest.front();
  const auto is_w = [&](std::size_t i) { return line[i] == 'w' || line[i] == 'W'; };
  switch (line[at]) {
    case '@':
      return is_alphanumeric(next);
    case '#':
      return is_digit(next);
    case ':': {
      const auto in_name = [](char c) {
        return is_alphanumeric(c) || c == '_' || c == '+' || c == '-';
      };
      const auto end = std::ranges::find_if_not(rest, in_name);
      return rest.starts_with("//") || (end != rest.begin() && end != rest.end() && *end == ':');
    }
    case 'w':
    case 'W':
      return next == '.' && at >= 2 && is_w(at - 1) && is_w(at - 2) &&
             (at == 2 || !is_alphanumeric(line[at - 3]));
    default:
      return false;
  }
}

/// Whether nothing or a blank follows behind the `count` characters.
bool ends_word(std::string_view text, std::size_t count) {
  return count >= text.size() || text[count] == ' ';
}

/// Of the mark that makes a list, a heading or a rule of the line; the line's size where none does.
std::size_t place_of_opening_mark(std::string_view line) {
  const bool rule = line.find_first_not_of("- ") == std::string_view::npos;
  if (line.starts_with('-') && (rule || ends_word(line, 1))) return 0;
  if (line.starts_with('+') && ends_word(line, 1)) return 0;
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  const bool item =
      digits > 0 && digits < line.size() && (line[digits] == '.' || line[digits] == ')');
  return item && ends_word(line, digits + 1) ? digits : line.size();
}

/// Those of a word of its own open a heading, or close it.
bool is_mark_of_heading(std::string_view line, std::size_t at) {
  if (line[at] != '#' || (at > 0 && line[at - 1] != ' ')) return false;
  const std::string_view rest = line.substr(at);
  return ends_word(rest, std::min(rest.find_first_not_of('#'), rest.size()));
}

std::string too_long(std::string_view command) {
  return fmt::format("(a command of {} bytes, too long for this page: the JSON report holds it)",
                     command.size());
}

}  // namespace

std::string markdown_text(std::string_view text, std::size_t longest) {
  constexpr std::string_view kMarks = "\\`*_[]~$";
  std::string line = shown_line(cut(text, longest));
  line.erase(0, line.find_first_not_of(' '));  // five would make it code
  const std::size_t opening = place_of_opening_mark(line);
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      const bool marks = kMarks.find(c) != std::string_view::npos;
      if (marks || i == opening || is_mark_of_heading(line, i)) out += '\\';
      out += c;
      if (needs_split(line, i)) out += kSplit;
    }
  }
  return text.size() > longest ? out + " ..." : out;
}

std::string markdown_code(std::string_view text, std::size_t longest) {
  if (text.empty()) return "";
  std::string inside = shown_line(cut(text, longest));
  if (text.size() > longest) inside += " ...";
  const std::string fence(longest_run_of_backticks(inside) + 1, '`');
  const bool touches = inside.front() == '`' || inside.back() == '`';
  return fence + (touches ? " " + inside + " " : inside) + fence;
}

std::string markdown_command(std::string_view command, std::size_t longest) {
  if (command.size() > longest) return too_long(command) + "\n";
  const std::string shown = shown_lines(command);
  const std::string fence(std::max<std::size_t>(3, longest_run_of_backticks(shown) + 1), '`');
  return fmt::format("{0}sh\n{1}\n{0}\n", fence, shown);
}

std::string markdown_inline_command(std::string_view command, std::size_t longest) {
  return command.size() > longest ? too_long(command) : markdown_code(command, longest);
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) {
    row += ' ';
    for (const char c : cell) {
      if (c == '|') row += '\\';  // a table is cut into cells before spans of code are seen
      row += c;
    }
    row += " |";
  }
  return row + "\n";
}

std::string markdown_heading(const std::vector<std::string>& names) {
  return markdown_row(names) + markdown_row(std::vector<std::string>(names.size(), "---"));
}

}  // namespace parity
