// Greedy line breaking.
#include "reports/wrap.hpp"

#include <algorithm>

namespace parity {

std::string wrapped(std::string_view lead, std::string_view text) {
  std::string out(lead);
  std::size_t column = lead.size();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (column > lead.size() && column + 1 + word.size() > kPageWidth) {
      out += '\n' + std::string(lead.size(), ' ');
      column = lead.size();
    } else if (column > lead.size()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    begin = end + 1;
  }
  return out + '\n';
}

}  // namespace parity
