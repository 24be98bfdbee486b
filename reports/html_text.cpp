// Escaping, and the smallest pieces of markup.
#include "reports/html_text.hpp"

#include <fmt/format.h>

#include "harness/shown_text.hpp"
#include "reports/finding_sentence.hpp"

namespace parity {
namespace {

/// Bytes of a character at the front of `text` that a page must not hold as it is: U+202A to 202E
/// and U+2066 to 2069 turn the direction of what follows, U+FFFE and U+FFFF are none in XML.
std::size_t unfit(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.size() < 3) return 0;
  const bool turns = byte(0) == 0xe2 && ((byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae) ||
                                         (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9));
  const bool none = byte(0) == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe;
  return turns || none ? 3 : 0;
}

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return "";
  }
}

}  // namespace

std::string html_text(std::string_view text) {
  const std::string line = shown_line(text);
  std::string out;
  out.reserve(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (const std::size_t bytes = unfit(std::string_view(line).substr(i)); bytes > 0) {
      for (std::size_t end = i + bytes; i < end; ++i)
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(line[i]));
      --i;
    } else if (const std::string_view escaped = entity(line[i]); !escaped.empty()) {
      out += escaped;
    } else {
      out += line[i];
    }
  }
  return out;
}

std::string html_code(std::string_view text) {
  std::string markup = "<code>";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t slash = text.find('/', begin);
    const std::size_t end = slash == std::string_view::npos ? text.size() : slash + 1;
    markup += html_text(text.substr(begin, end - begin));
    if (end < text.size()) markup += "<wbr/>";
    begin = end;
  }
  return markup + "</code>";
}

std::string html_codes(const std::vector<std::string>& words) {
  std::string markup;
  for (const std::string& word : words) markup += (markup.empty() ? "" : ", ") + html_code(word);
  return markup.empty() ? "none" : markup;
}

std::string html_link(std::string_view target, std::string_view text) {
  return fmt::format("<a href=\"#{}\">{}</a>", html_text(target), html_text(text));
}

std::string html_figure(double value) {
  return html_text(short_number(value));
}

}  // namespace parity
