// harness cache: what the folder of compiled modules holds, whether it is sound, and emptying it.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "device/cache_folder.hpp"
#include "harness/commands.hpp"
#include "harness/paths.hpp"

namespace parity {
namespace {

constexpr int kDamaged = 1;

/// A path on one line, whatever its name holds: control characters, and the backslash that shows
/// them, as \xHH.
std::string shown(const std::filesystem::path& path) {
  std::string out;
  for (const char c : path.string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '\\')
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out;
}

void print_foreign(const CacheFolder& found) {
  for (const std::filesystem::path& path : found.foreign)
    fmt::print("foreign    {}\n", shown(path));
}

int info(const std::filesystem::path& folder) {
  const CacheFolder found = read_cache_folder(folder);
  fmt::print("folder     {}\nentries    {}\nbytes      {}\nlimit      {} (PARITY_CACHE_BYTES)\n",
             shown(folder), found.entries.size(), found.bytes(), cache_limit());
  print_foreign(found);
  return 0;
}

int verify(const std::filesystem::path& folder) {
  const CacheFolder found = read_cache_folder(folder);
  std::size_t images = 0;
  std::size_t damaged = 0;
  for (const CacheEntry& entry : found.entries)
    for (const std::filesystem::path& file : entry.files) {
      if (!is_image(file)) continue;
      ++images;
      if (image_state(file) != ImageState::damaged) continue;
      ++damaged;
      fmt::print("damaged    {}\n", shown(file));
    }
  print_foreign(found);
  fmt::print("{} images, {} damaged, {} foreign\n", images, damaged, found.foreign.size());
  if (damaged > 0)
    fmt::print(
        "a damaged image is never used: it is built again when it is needed, or removed by "
        "harness cache clear\n");
  return damaged > 0 ? kDamaged : 0;
}

int clear(const std::filesystem::path& folder) {
  const CacheFolder found = read_cache_folder(folder);
  std::size_t entries = 0;
  std::uint64_t bytes = 0;
  for (const CacheEntry& entry : found.entries) {
    const Removed removed = remove_entry(entry);
    if (removed.files > 0) ++entries;
    bytes += removed.bytes;
  }
  fmt::print("removed {} entries of {} bytes from {}; {} foreign files left\n", entries, bytes,
             shown(folder), found.foreign.size());
  return 0;
}

}  // namespace

int cache_command(const Options& options) {
  const std::filesystem::path folder = paths().modules;
  switch (options.cache) {
    case CacheAction::info:
      return info(folder);
    case CacheAction::verify:
      return verify(folder);
    case CacheAction::clear:
      return clear(folder);
  }
  return 0;
}

}  // namespace parity
