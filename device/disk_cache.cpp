// Entries are written under a temporary name, synced and renamed: a reader sees a whole entry or
// none.
#include "device/disk_cache.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "datasets/digest.hpp"
#include "datasets/replaced_file.hpp"
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

std::string advice(const std::error_code& error) {
  if (error == std::errc::is_a_directory)
    return "remove the folder that has a module's name there (harness cache verify lists it)";
  if (error == std::errc::no_space_on_device || error.value() == EDQUOT) return "make room there";
  return "make it writable";
}

}  // namespace

/// Folders that did not take a file.
struct DiskCache::Refusals {
  std::string folders;  ///< "/a (Permission denied) nor to /b (...)"; empty: none refused
  std::error_code first;

  void add(const fs::path& folder, const std::error_code& error) {
    if (folders.empty()) first = error;
    folders += fmt::format("{}{} ({})", folders.empty() ? "" : " nor to ", folder.string(),
                           error.message());
  }
};

DiskCache::DiskCache(fs::path folder, fs::path spare, std::uint64_t limit)
    : folder_(std::move(folder)), spare_(std::move(spare)), limit_(limit) {
  std::error_code error;  // A folder that cannot be made shows when the first entry is written.
  fs::create_directories(folder_, error);
}

DiskCache::~DiskCache() {
  std::error_code error;
  if (!temporary_.empty()) fs::remove_all(temporary_, error);
}

std::vector<fs::path> DiskCache::folders() const {
  std::vector<fs::path> there = {folder_};
  if (!spare_.empty()) there.push_back(spare_);
  const std::scoped_lock lock(mutex_);
  if (!temporary_.empty()) there.push_back(temporary_);
  return there;
}

fs::path DiskCache::make_temporary_folder(const Refusals& refusals) {
  const std::scoped_lock lock(mutex_);
  if (!temporary_.empty()) return temporary_;
  std::error_code error;
  fs::path parent = fs::temp_directory_path(error);
  if (error) parent = "/tmp";
  std::string name = parent / "parity-modules-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw DeviceError(fmt::format(
        "modules can be written neither to {} nor to {} ({}); make one of them writable",
        refusals.folders, parent.string(), std::generic_category().message(errno)));
  return temporary_ = name;
}

fs::path DiskCache::folder_at(Place place, const Refusals& refusals) {
  if (place == Place::folder) return folder_;
  if (place == Place::spare) return spare_;
  return make_temporary_folder(refusals);
}

void DiskCache::warn(const Refusals& refusals, Place place) {
  const std::string instead =
      place == Place::spare
          ? fmt::format("they lie in {} until the run ends, and the next compiles them again",
                        spare_.string())
          : "every process compiles them again, within the time limits of its runs";
  const std::string line = fmt::format("cannot write modules to {}; {}; {}", refusals.folders,
                                       instead, advice(refusals.first));
  const std::scoped_lock lock(mutex_);
  if (!warned_.insert(line).second) return;
  warnings_.push_back(line);
  fmt::print(stderr, "warning: {}\n", line);
}

std::vector<std::string> DiskCache::take_warnings() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(warnings_, {});
}

/// Into the first folder that takes it, from `place` on, which then says which that was.
fs::path DiskCache::put(const std::string& file, std::string_view bytes, Place& place) {
  Refusals refusals;
  while (true) {
    const fs::path folder = folder_at(place, refusals);
    try {
      std::error_code error;  // Somebody may have removed it since; else the write tells.
      fs::create_directories(folder, error);
      replace_file(folder / file, bytes);
    } catch (const std::system_error& error) {
      if (place == Place::temporary) throw;
      refusals.add(folder, error.code());
      place = place == Place::folder && !spare_.empty() ? Place::spare : Place::temporary;
      continue;
    }
    if (!refusals.folders.empty()) warn(refusals, place);
    return folder / file;
  }
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

/// Empty where no folder has a sound one.
fs::path DiskCache::find(const std::string& entry, const std::string& file) {
  std::vector<fs::path> damaged;
  for (const fs::path& folder : folders()) {
    fs::path path = folder / file;
    const ImageState found = use_image(path);
    if (found == ImageState::damaged) damaged.push_back(path);
    if (found != ImageState::sound) continue;
    if (folder == folder_) keep(entry);
    return path;
  }
  for (const fs::path& path : damaged)
    fmt::print(stderr, "warning: {} is damaged; it is built again\n", path.string());
  return {};
}

fs::path DiskCache::image(const std::string& text, const Toolchain& toolchain) {
  const std::string entry = entry_name(text, toolchain);
  const std::string file = entry + toolchain.image_suffix();
  if (fs::path found = find(entry, file); !found.empty()) return found;
  try {
    Place place = Place::folder;
    const fs::path source = put(entry + source_suffix(toolchain), text, place);
    const std::vector<std::byte> image = toolchain.compile(text, source.string());
    fs::path path = put(file, std::string(as_text(image)) + image_trailer(image, entry), place);
    if (place != Place::folder) return path;
    keep(entry);
    make_room();
    return path;
  } catch (const std::system_error& error) {
    throw DeviceError(
        fmt::format("a module could not be written ({}); make room or set TMPDIR", error.what()));
  }
}

fs::path DiskCache::source_path(const std::string& text, const Toolchain& toolchain) const {
  const std::string file = entry_name(text, toolchain) + source_suffix(toolchain);
  std::vector<fs::path> there = folders();
  std::erase_if(there, [&file](const fs::path& folder) {
    std::error_code error;
    return !fs::is_regular_file(folder / file, error);
  });
  return (there.empty() ? folder_ : there.back()) / file;
}

}  // namespace parity
