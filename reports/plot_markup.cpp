// What gnuplot wrote becomes part of a page.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "reports/html_text.hpp"
#include "reports/plot.hpp"

namespace parity {
namespace {

/// A tag, without its brackets, that no plot of ours holds and that a page must not take from
/// anywhere: a script, a style, something to fetch, or a handler of events.
bool is_foreign(std::string_view tag) {
  constexpr std::array kElements = {"script", "style", "image", "foreignObject", "a", "iframe"};
  constexpr std::array kWords = {" on", " style", "url(", "http", "javascript"};
  const std::string_view element = tag.substr(0, tag.find_first_of(" \t\r\n/"));
  return tag.starts_with('!') || tag.starts_with('?') ||
         std::ranges::any_of(kElements, [&](std::string_view one) { return element == one; }) ||
         std::ranges::any_of(kWords, [&](std::string_view word) {
           return tag.find(word) != std::string_view::npos;
         });
}

bool holds_foreign_tags(std::string_view svg) {
  for (std::size_t at = svg.find('<'); at != std::string_view::npos; at = svg.find('<', at + 1)) {
    const std::size_t end = std::min(svg.find('>', at), svg.size());
    if (is_foreign(svg.substr(at + 1, end - at - 1))) return true;
  }
  return false;
}

/// `change(inside)` in place of each `open`inside`close`. Not std::regex: its depth grows with the
/// text, and what a broken gnuplot writes may be long.
template <typename Change>
std::string changed(std::string_view text, std::string_view open, std::string_view close,
                    const Change& change) {
  std::string out;
  for (;;) {
    const std::size_t begin = text.find(open);
    const std::size_t end =
        begin == std::string_view::npos ? begin : text.find(close, begin + open.size());
    if (end == std::string_view::npos) return out.append(text);
    out.append(text.substr(0, begin));
    out.append(change(text.substr(begin + open.size(), end - begin - open.size())));
    text.remove_prefix(end + close.size());
  }
}

std::string without(std::string_view text, std::string_view open, std::string_view close) {
  return changed(text, open, close, [](std::string_view) { return ""; });
}

/// Groups without content, which gnuplot writes by the dozen.
std::string without_empty_groups(std::string text) {
  for (std::size_t end = text.find("</g>"); end != std::string::npos;) {
    const std::size_t last = end == 0 ? end : text.find_last_not_of(" \t\r\n", end - 1);
    const std::size_t begin = last == std::string::npos ? last : text.rfind('<', last);
    const bool empty = begin != std::string::npos && text[last] == '>' &&
                       text.compare(begin, 3, "<g ") == 0 && text[last - 1] != '/';
    if (empty) text.erase(begin, end + 4 - begin);
    end = text.find("</g>", empty ? begin : end + 4);
  }
  return text;
}

/// "1, 0, 3" is the page's third colour; any other stays.
std::string page_colour(std::string_view rgb) {
  std::string digits;
  for (const char c : rgb)
    if (c != ' ') digits += c;
  if (digits.starts_with("1,0,")) return fmt::format("var(--plot-{})", digits.substr(4));
  return fmt::format("rgb({})", rgb);
}

std::string in_page_colours(std::string_view text) {
  std::string painted = changed(text, "rgb(", ")", page_colour);
  for (const std::string_view attribute : {"stroke=", "fill=", "color="})
    for (const std::string_view quote : {"'", "\""})
      painted =
          changed(painted, fmt::format(" {}{}black", attribute, quote), quote,
                  [&](std::string_view) { return fmt::format(" {}\"currentColor\"", attribute); });
  return painted;
}

/// gnuplot names its marks alike in every plot.
std::string with_own_ids(std::string_view text, std::string_view name) {
  std::string owned(text);
  // In this order: what the first pass writes, the second must not find.
  for (const char quote : {'"', '\''}) {
    const std::string close(1, quote);
    owned = changed(owned, fmt::format(" id={}", quote), close,
                    [&](std::string_view id) { return fmt::format(" id=\"{}-{}\"", name, id); });
    owned = changed(owned, fmt::format(" xlink:href={}#", quote), close,
                    [&](std::string_view id) { return fmt::format(" href=\"#{}-{}\"", name, id); });
  }
  return owned;
}

/// Width and height of `viewBox="0 0 940 300"`.
std::optional<std::pair<std::string, std::string>> size_of(std::string_view head) {
  constexpr std::string_view kBox = "viewBox=\"0 0 ";
  const std::size_t begin = head.find(kBox);
  if (begin == std::string_view::npos) return std::nullopt;
  head.remove_prefix(begin + kBox.size());
  const std::string_view box = head.substr(0, head.find('"'));
  const std::size_t space = box.find(' ');
  if (space == std::string_view::npos ||
      box.find_first_not_of("0123456789 ") != std::string_view::npos)
    return std::nullopt;
  return std::pair(std::string(box.substr(0, space)), std::string(box.substr(space + 1)));
}

}  // namespace

std::optional<std::string> plot_markup(std::string_view svg, std::string_view name,
                                       std::string_view title, std::string_view description) {
  const std::size_t begin = svg.find("<svg");
  const std::size_t opened = svg.find("</desc>");
  const std::size_t end = svg.rfind("</svg>");
  if (begin == std::string_view::npos || opened == std::string_view::npos ||
      end == std::string_view::npos || !(begin < opened && opened < end))
    return std::nullopt;
  const auto size = size_of(svg.substr(begin, opened - begin));
  const std::string body =
      without(without(svg.substr(opened + 7, end - opened - 7), "<title>", "</title>"), "<filter ",
              "</filter>");
  if (!size || holds_foreign_tags(body)) return std::nullopt;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" id=\"{0}\" "
      "aria-labelledby=\"{0}-title {0}-desc\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\">"
      "\n<title id=\"{0}-title\">{3}</title>\n<desc id=\"{0}-desc\">{4}</desc>\n{5}</svg>\n",
      name, size->first, size->second, html_text(title), html_text(description),
      with_own_ids(in_page_colours(without_empty_groups(body)), name));
}

}  // namespace parity
