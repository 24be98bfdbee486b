// Names, checksums and eviction. Time stamps decide only what goes first, never what is valid.
#include "device/cache_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>
#include <system_error>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "PARITY-1";
constexpr std::size_t kTrailerBytes = 16 + kMagic.size();
constexpr std::size_t kNameDigits = 32;
constexpr std::array<std::string_view, 2> kImageSuffixes = {".so", ".cubin"};
constexpr std::array<std::string_view, 2> kSourceSuffixes = {".cpp", ".cu"};
constexpr std::uint64_t kDefaultLimit = std::uint64_t{4} << 30;
/// From finding an image to opening it, from making a temporary file to renaming it, and from one
/// worker's preparing a module to another's running it, which has no time to compile.
constexpr std::chrono::minutes kAboutToBeOpened{10};

bool contains(std::span<const std::string_view> list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

/// "a3…f.so.tmp.17.0" becomes "a3…f.so": what a writer that was killed left behind.
std::string_view without_temporary(std::string_view name) {
  return name.substr(0, name.find(".tmp."));
}

std::string_view suffix_of(std::string_view name) {
  name = without_temporary(name);
  return name.size() > kNameDigits ? name.substr(kNameDigits) : std::string_view();
}

/// Empty where it is no file that can be read.
std::string read_whole(const fs::path& path) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return {};
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  std::string bytes(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file ? bytes : std::string();
}

void add_file(CacheEntry& entry, const fs::path& file) {
  std::error_code gone;  // Another process may remove it meanwhile.
  const std::uint64_t bytes = fs::file_size(file, gone);
  if (gone) return;
  const fs::file_time_type used = fs::last_write_time(file, gone);
  if (gone) return;
  entry.files.push_back(file);
  entry.bytes += bytes;
  entry.used = std::max(entry.files.size() == 1 ? used : entry.used, used);
}

bool is_about_to_be_opened(fs::file_time_type used) {
  const auto now = fs::file_time_type::clock::now();
  return now - used < kAboutToBeOpened && used - now < kAboutToBeOpened;
}

/// The entry as it is by now; without files where it is gone.
CacheEntry seen_again(const CacheEntry& entry) {
  CacheEntry now;
  now.name = entry.name;
  for (const fs::path& file : entry.files) add_file(now, file);
  return now;
}

void sort_files(CacheEntry& entry) {
  std::ranges::sort(entry.files);
  std::ranges::stable_partition(entry.files, is_image);
}

}  // namespace

std::uint64_t CacheFolder::bytes() const {
  std::uint64_t sum = 0;
  for (const CacheEntry& entry : entries) sum += entry.bytes;
  return sum;
}

std::string entry_of(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::string entry = name.substr(0, kNameDigits);
  const std::string_view suffix = suffix_of(name);
  const bool known = contains(kImageSuffixes, suffix) || contains(kSourceSuffixes, suffix);
  return known && entry.find_first_not_of("0123456789abcdef") == std::string::npos ? entry : "";
}

bool is_image(const fs::path& file) {
  const std::string name = file.filename().string();
  return without_temporary(name) == name && contains(kImageSuffixes, suffix_of(name));
}

CacheFolder read_cache_folder(const fs::path& folder) {
  CacheFolder found;
  std::error_code failed;
  if (!fs::exists(folder, failed) && !failed) return found;
  std::map<std::string, CacheEntry> entries;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code gone;
    const std::string name = entry_of(it->path());
    if (name.empty() || it->symlink_status(gone).type() != fs::file_type::regular)
      found.foreign.push_back(it->path());
    else
      add_file(entries[name], it->path());
  }
  if (failed)
    throw DatasetError(fmt::format("the folder {} cannot be read: {}; make it readable",
                                   folder.string(), failed.message()));
  for (auto& [name, entry] : entries) {
    if (entry.files.empty()) continue;
    entry.name = name;
    sort_files(entry);
    found.entries.push_back(std::move(entry));
  }
  std::ranges::sort(found.foreign);
  return found;
}

std::string image_trailer(std::span<const std::byte> image, const std::string& entry) {
  // The checksum also covers the entry's name: a sound image under a foreign name is refused.
  const Digest sum = digest(digest(image).hex() + entry);
  std::string bytes;
  for (const std::uint64_t word : {sum.high, sum.low})
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(word >> shift));
  return bytes.append(kMagic);
}

ImageState image_state(const fs::path& file) {
  const std::string bytes = read_whole(file);
  std::error_code error;
  if (!fs::exists(fs::symlink_status(file, error))) return ImageState::absent;
  if (bytes.size() <= kTrailerBytes) return ImageState::damaged;
  const auto image = std::as_bytes(std::span(bytes)).first(bytes.size() - kTrailerBytes);
  return bytes.ends_with(image_trailer(image, file.stem().string())) ? ImageState::sound
                                                                     : ImageState::damaged;
}

ImageState use_image(const fs::path& file) {
  // What may not be marked is used all the same: a folder that is read-only, somebody else's file.
  utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
  return image_state(file);
}

Removed remove_entry(const CacheEntry& entry) {
  Removed removed;
  for (const fs::path& file : entry.files) {
    std::error_code failed;
    const std::uint64_t bytes = fs::file_size(file, failed);
    if (failed || unlink(file.c_str()) != 0) continue;
    ++removed.files;
    removed.bytes += bytes;
  }
  return removed;
}

std::uint64_t cache_limit() {
  const char* const value = std::getenv("PARITY_CACHE_BYTES");
  if (value == nullptr) return kDefaultLimit;
  const std::string_view text = value;
  std::uint64_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc{} || end != text.data() + text.size())
    throw UsageError(fmt::format(
        "PARITY_CACHE_BYTES is '{}', but must be a number of bytes, as in 4294967296", text));
  return limit;
}

std::uint64_t evict(CacheFolder found, std::uint64_t limit, const std::set<std::string>& kept) {
  std::uint64_t left = found.bytes();
  if (left <= limit) return 0;
  std::ranges::sort(found.entries, [](const CacheEntry& a, const CacheEntry& b) {
    return std::pair(a.used, a.name) < std::pair(b.used, b.name);
  });
  std::uint64_t removed = 0;
  for (const CacheEntry& entry : found.entries) {
    if (left <= limit) break;
    if (is_about_to_be_opened(entry.used) || kept.contains(entry.name)) continue;
    const CacheEntry now = seen_again(entry);  // Others use, build and remove meanwhile.
    if (!now.files.empty() && is_about_to_be_opened(now.used)) continue;
    removed += remove_entry(now).bytes;
    left -= entry.bytes;
  }
  return removed;
}

}  // namespace parity
