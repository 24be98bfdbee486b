// The system calls behind a replaced file.
#include "datasets/replaced_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

namespace parity {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string_view action, const fs::path& file) {
  const int error = errno;
  throw std::system_error(error, std::generic_category(),
                          fmt::format("{} '{}'", action, file.string()));
}

}  // namespace

ReplacedFile::ReplacedFile(fs::path target, unsigned permissions) : target_(std::move(target)) {
  // O_EXCL, because process ids repeat across containers that share a folder.
  for (unsigned number = 0; descriptor_ < 0; ++number) {
    temporary_ = fmt::format("{}.tmp.{}.{}", target_.string(), ::getpid(), number);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
    if (descriptor_ < 0 && errno != EEXIST) fail("opening", temporary_);
  }
}

ReplacedFile::~ReplacedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_) ::unlink(temporary_.c_str());
}

void ReplacedFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("writing", temporary_);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void ReplacedFile::sync() {
  if (::fsync(descriptor_) != 0) fail("syncing", temporary_);
}

void ReplacedFile::commit() {
  // Some file systems report a failed write only here.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("closing", temporary_);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("renaming", temporary_);
  committed_ = true;
}

void ReplacedFile::sync_folder() const {
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  errno = error;
  if (!synced) fail("syncing", folder);
}

void replace_file(const fs::path& target, std::string_view bytes) {
  ReplacedFile file(target);
  file.write(std::as_bytes(std::span(bytes)));
  file.sync();
  file.commit();
}

}  // namespace parity
