// Entries are written under a temporary name, synced and renamed: a reader sees a whole entry or
// none.
#include "device/disk_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "datasets/digest.hpp"
#include "device/cache_folder.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

/// Every field with its length, so that no two lists of fields run together to the same text.
std::string entry_name(const std::string& text, const Toolchain& toolchain) {
  const ToolchainIdentity& id = toolchain.identity();
  std::string all;
  const auto add = [&all](std::string_view field) {
    all += fmt::format("{}:{}\n", field.size(), field);
  };
  for (const std::string& field : {id.name, id.version, id.architecture}) add(field);
  all += fmt::format("{} options\n", id.options.size());
  for (const std::string& option : id.options) add(option);
  add(text);
  return digest(all).hex();
}

std::string source_suffix(const Toolchain& toolchain) {
  return toolchain.identity().name == "nvrtc" ? ".cu" : ".cpp";
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

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

/// Throws std::system_error; `target` is then as it was.
void write_file(const fs::path& target, std::string_view bytes) {
  const auto [descriptor, temporary] = create_temporary(target);
  int error = write_all(descriptor, bytes);
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return;
  unlink(temporary.c_str());
  fail(error, target);
}

}  // namespace

DiskCache::DiskCache(fs::path folder, std::uint64_t limit)
    : folder_(std::move(folder)), limit_(limit) {
  std::error_code error;  // A folder that cannot be made shows when the first entry is written.
  fs::create_directories(folder_, error);
}

DiskCache::~DiskCache() {
  std::error_code error;
  if (!fallback_.empty()) fs::remove_all(fallback_, error);
}

fs::path DiskCache::fallback() const {
  const std::scoped_lock lock(mutex_);
  return fallback_;
}

fs::path DiskCache::make_fallback(const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  if (!fallback_.empty()) return fallback_;
  std::error_code error;
  fs::path parent = fs::temp_directory_path(error);
  if (error) parent = "/tmp";
  std::string name = parent / "parity-modules-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw DeviceError(fmt::format(
        "modules can be kept neither in {} ({}) nor in {} ({}); make one of them writable",
        folder_.string(), reason, parent.string(), std::generic_category().message(errno)));
  fmt::print(stderr, "warning: cannot write modules to {} ({}); using {} until the end\n",
             folder_.string(), reason, name);
  return fallback_ = name;
}

fs::path DiskCache::build(const fs::path& folder, const std::string& entry, const std::string& text,
                          const Toolchain& toolchain) const {
  std::error_code error;  // Somebody may have removed it since; else the write tells.
  fs::create_directories(folder, error);
  const fs::path source = folder / (entry + source_suffix(toolchain));
  write_file(source, text);
  const std::vector<std::byte> image = toolchain.compile(text, source.string());
  fs::path target = folder / (entry + toolchain.image_suffix());
  write_file(target, std::string(as_text(image)) + image_trailer(image, entry));
  return target;
}

void DiskCache::keep(const std::string& entry) {
  const std::scoped_lock lock(mutex_);
  kept_.insert(entry);
}

void DiskCache::make_room() const {
  const std::set<std::string> kept = [this] {
    const std::scoped_lock lock(mutex_);
    return kept_;
  }();
  try {
    evict(read_cache_folder(folder_), limit_, kept);
  } catch (const DatasetError& error) {
    fmt::print(stderr, "warning: old modules are not removed: {}\n", error.what());
  }
}

fs::path DiskCache::image(const std::string& text, const Toolchain& toolchain) {
  const std::string entry = entry_name(text, toolchain);
  const fs::path spare = fallback();
  for (const fs::path& folder : {folder_, spare}) {
    if (folder.empty()) continue;
    fs::path path = folder / (entry + toolchain.image_suffix());
    const ImageState found = use_image(path);
    if (found == ImageState::sound) {
      if (folder == folder_) keep(entry);
      return path;
    }
    if (found == ImageState::damaged)
      fmt::print(stderr, "warning: {} is damaged; it is built again\n", path.string());
  }
  try {
    if (!spare.empty()) return build(spare, entry, text, toolchain);
    try {
      const fs::path built = build(folder_, entry, text, toolchain);
      keep(entry);
      make_room();
      return built;
    } catch (const std::system_error& error) {
      return build(make_fallback(error.code().message()), entry, text, toolchain);
    }
  } catch (const std::system_error& error) {
    throw DeviceError(
        fmt::format("a module could not be written ({}); make room or set TMPDIR", error.what()));
  }
}

fs::path DiskCache::source_path(const std::string& text, const Toolchain& toolchain) const {
  const fs::path file = entry_name(text, toolchain) + source_suffix(toolchain);
  const fs::path spare = fallback();
  std::error_code error;
  return !spare.empty() && fs::exists(spare / file, error) ? spare / file : folder_ / file;
}

}  // namespace parity
