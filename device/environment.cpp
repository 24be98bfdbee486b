// Environment variables, read as getenv() would and written as setenv() does.
#include "device/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "datasets/errors.hpp"

namespace parity {

std::vector<CellState> Environment::read() {
  std::vector<CellState> cells;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) continue;  // nothing that getenv() would find
    cells.push_back({std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))});
  }
  // Of a name that stands there twice, getenv() finds the first.
  std::ranges::stable_sort(cells, {}, &CellState::cell);
  const auto twice = std::ranges::unique(cells, {}, &CellState::cell);
  cells.erase(twice.begin(), twice.end());
  return cells;
}

void Environment::set(const std::vector<CellState>& cells) {
  std::set<std::string_view> wanted;
  for (const CellState& cell : cells) {
    if (cell.cell.empty() || cell.cell.find('=') != std::string::npos)
      throw UsageError(fmt::format("'{}' is no name of an environment variable", cell.cell));
    wanted.insert(cell.cell);
  }
  for (const CellState& there : read())
    if (!wanted.contains(there.cell)) unsetenv(there.cell.c_str());
  for (const CellState& cell : cells) setenv(cell.cell.c_str(), cell.content.c_str(), 1);
}

}  // namespace parity
