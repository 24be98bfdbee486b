// The working directory, read and changed by path.
#include "device/working_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr const char* kCell = "path";
constexpr const char* kUnreachable = "unreachable";

[[noreturn]] void refuse(const std::string& folder, const std::error_code& why) {
  throw UsageError(
      fmt::format("the working directory cannot become '{}': {}", folder, why.message()));
}

}  // namespace

WorkingDirectory::WorkingDirectory() : fresh_(read()) {
  if (fresh_[0].content == kUnreachable) gone_ = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

WorkingDirectory::~WorkingDirectory() {
  if (gone_ >= 0) close(gone_);
}

void WorkingDirectory::restore() {
  if (fresh_[0].content != kUnreachable) return set(fresh_);
  if (gone_ < 0 || fchdir(gone_) != 0)
    refuse(kUnreachable, {gone_ < 0 ? ENOENT : errno, std::generic_category()});
}

std::vector<CellState> WorkingDirectory::read() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::current_path(error);
  return {{kCell, error ? kUnreachable : path.string()}};
}

void WorkingDirectory::set(const std::vector<CellState>& cells) {
  if (cells.size() != 1 || cells[0].cell != kCell)
    throw UsageError(fmt::format("the working directory has one cell, '{}'", kCell));
  const std::filesystem::path path = cells[0].content;
  if (!path.is_absolute())
    throw UsageError(fmt::format(
        "the working directory cannot become '{}', which is no absolute path", cells[0].content));
  std::error_code error;
  std::filesystem::current_path(path, error);
  if (error) refuse(cells[0].content, error);
}

}  // namespace parity
