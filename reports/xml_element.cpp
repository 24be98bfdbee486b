// What XML 1.0 can hold and what it cannot: its Char production, in bytes of UTF-8.
#include "reports/xml_element.hpp"

#include <fmt/format.h>

#include "harness/shown_text.hpp"

namespace parity {
namespace {

/// Of a text that shows its control characters already.
std::string escaped(const std::string& shown) {
  std::string out;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::string_view rest = std::string_view(shown).substr(i);
    if (rest.starts_with("\xef\xbf\xbe") || rest.starts_with("\xef\xbf\xbf")) {
      out += "\xef\xbf\xbd";  // U+FFFE and U+FFFF are UTF-8, but no characters
      i += 2;
    } else if (shown[i] == '&') {
      out += "&amp;";
    } else if (shown[i] == '<') {
      out += "&lt;";
    } else if (shown[i] == '>') {
      out += "&gt;";
    } else if (shown[i] == '"') {
      out += "&quot;";
    } else {
      out += shown[i];
    }
  }
  return out;
}

void append(std::string& out, const XmlElement& element, std::size_t depth) {
  const std::string indent(2 * depth, ' ');
  out += indent + '<' + element.name;
  for (const auto& [name, value] : element.attributes)
    out += fmt::format(" {}=\"{}\"", name, escaped(shown_line(value)));
  if (element.children.empty() && element.text.empty()) {
    out += "/>\n";
    return;
  }
  out += '>';
  if (element.children.empty()) {
    out += escaped(shown_lines(element.text));
  } else {
    out += '\n';
    for (const XmlElement& child : element.children) append(out, child, depth + 1);
    out += indent;
  }
  out += fmt::format("</{}>\n", element.name);
}

}  // namespace

void XmlElement::set(std::string attribute, std::string value) {
  attributes.emplace_back(std::move(attribute), std::move(value));
}

XmlElement& XmlElement::add(XmlElement child) {
  return children.emplace_back(std::move(child));
}

std::string xml_document(const XmlElement& root) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  append(out, root, 0);
  return out;
}

}  // namespace parity
