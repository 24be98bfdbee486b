// Temporary name, sync, rename: a reader sees a whole file or none.
#include "device/replaced_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace parity {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(int error, const fs::path& path) {
  throw std::system_error(error, std::generic_category(), path.string());
}

/// A file that no other process or thread has: O_EXCL, because process ids repeat across containers
/// that share a folder.
std::pair<int, fs::path> create_temporary(const fs::path& target) {
  for (unsigned counter = 0;; ++counter) {
    const fs::path path = fmt::format("{}.tmp.{}.{}", target.string(), getpid(), counter);
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor >= 0) return {descriptor, path};
    if (errno != EEXIST) fail(errno, path);
  }
}

int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return fsync(descriptor) == 0 ? 0 : errno;
}

}  // namespace

void replace_file(const fs::path& target, std::string_view bytes) {
  const auto [descriptor, temporary] = create_temporary(target);
  int error = write_all(descriptor, bytes);
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return;
  unlink(temporary.c_str());
  fail(error, target);
}

}  // namespace parity
