// The working directory, read and changed by path.
#include "device/working_directory.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr const char* kCell = "path";

}  // namespace

std::vector<CellState> WorkingDirectory::read() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::current_path(error);
  return {{kCell, error ? "unreachable" : path.string()}};
}

void WorkingDirectory::set(const std::vector<CellState>& cells) {
  if (cells.size() != 1 || cells[0].cell != kCell)
    throw UsageError(fmt::format("the working directory has one cell, '{}'", kCell));
  std::error_code error;
  std::filesystem::current_path(cells[0].content, error);
  if (error)
    throw UsageError(fmt::format("the working directory cannot become '{}': {}", cells[0].content,
                                 error.message()));
}

}  // namespace parity
