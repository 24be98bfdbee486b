// A tree of XML elements, and its text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parity {

/// Has children or a text, not both.
struct XmlElement {
  std::string name;  ///< as it stands in the text, never from outside
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children = {};
  std::string text = {};

  void set(std::string attribute, std::string value);
  XmlElement& add(XmlElement child);
};

/// The whole document, XML 1.0 in UTF-8. Attributes are made one line. Whatever XML forbids (most
/// control characters, bytes that are not UTF-8) is shown as \xHH.
std::string xml_document(const XmlElement& root);

}  // namespace parity
