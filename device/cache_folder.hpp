// What lies in a disk cache's folder: which files are entries, whether an image is sound, and which
// entries go first when there are too many. Everything else in the folder is foreign and is left
// alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace parity {

/// One image with the source it was compiled from, or what an unfinished build left of them.
struct CacheEntry {
  std::string name;                          ///< 32 hexadecimal digits
  std::vector<std::filesystem::path> files;  ///< images first
  std::uint64_t bytes = 0;
  std::filesystem::file_time_type used;  ///< the latest of its files

  bool operator==(const CacheEntry&) const = default;
};

struct CacheFolder {
  std::vector<CacheEntry> entries;             ///< by name
  std::vector<std::filesystem::path> foreign;  ///< by name: not an entry's, whatever they are

  std::uint64_t bytes() const;  ///< of the entries
};

/// A folder that is not there is empty. Throws DatasetError for one that cannot be read.
CacheFolder read_cache_folder(const std::filesystem::path& folder);

/// The entry that a file in the folder belongs to; empty for a foreign name.
std::string entry_of(const std::filesystem::path& file);
/// True for names of images.
bool is_image(const std::filesystem::path& file);

enum class ImageState : std::uint8_t { absent, damaged, sound };
/// Reads the whole file and its checksum.
ImageState image_state(const std::filesystem::path& file);

/// The same, of an image that is about to be opened. Marks it as used now before it is read, so
/// that whoever evicts meanwhile leaves it, or this finds it absent.
ImageState use_image(const std::filesystem::path& file);

/// The bytes that end an image's file: a checksum over the image and the entry's name, and a magic.
std::string image_trailer(std::span<const std::byte> image, const std::string& entry);

struct Removed {
  std::size_t files = 0;
  std::uint64_t bytes = 0;

  bool operator==(const Removed&) const = default;
};

/// Removes an entry's files, the image first. A process that has opened one goes on using it.
/// Returns what was there and could be removed.
Removed remove_entry(const CacheEntry& entry);

/// The size from which on entries are removed: PARITY_CACHE_BYTES, else 4 GiB. Throws UsageError
/// where the variable is no number.
std::uint64_t cache_limit();

/// Removes entries, those first that were used longest ago, until the rest has at most `limit`
/// bytes. Keeps those in `kept`, and those used within the last ten minutes, also since they were
/// found: somebody may be about to open them. Returns the bytes that were removed.
std::uint64_t evict(CacheFolder found, std::uint64_t limit, const std::set<std::string>& kept);

}  // namespace parity
