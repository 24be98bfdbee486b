#include "harness/writable.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "datasets/errors.hpp"
#include "datasets/replaced_file.hpp"

namespace parity {

void check_writable(std::string_view option, const std::filesystem::path& path) {
  if (path.empty()) return;
  // Devices, pipes and links are written in place.
  const std::filesystem::file_status status = std::filesystem::symlink_status(path);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
      !std::filesystem::is_directory(path)) {
    if (std::filesystem::exists(path) && access(path.c_str(), W_OK) != 0)
      throw UsageError(
          fmt::format("{} {}: cannot be written: {}", option, path.string(), std::strerror(errno)));
    return;
  }
  if (std::filesystem::is_directory(path))
    throw UsageError(fmt::format("{} {}: is a folder; name a file", option, path.string()));
  try {
    const ReplacedFile trial(path);
  } catch (const std::system_error& error) {
    throw UsageError(
        fmt::format("{} {}: cannot be written: {}", option, path.string(), error.code().message()));
  }
}

}  // namespace parity
