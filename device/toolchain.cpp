#include "device/toolchain.hpp"

#include <sstream>

namespace parity {

std::string first_error(std::string_view log) {
  std::istringstream lines{std::string(log)};
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first;
}

}  // namespace parity
