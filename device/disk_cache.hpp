// Content-addressed images on disk: the name is the digest of text, options and toolchain, so an
// entry can be old but never wrong. Each entry ends in a checksum; a damaged one is rebuilt with a
// warning.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "device/cache_folder.hpp"
#include "device/toolchain.hpp"

namespace parity {

class DiskCache {
 public:
  /// Creates `folder`. Sound entries in it are used even where it cannot be written. A file that it
  /// does not take goes to `spare`, made when it is first needed: it belongs to the caller, and any
  /// number of caches may share it. What the spare folder does not take either (or none is given)
  /// goes to a temporary folder that is removed at the end. From `limit` bytes on, what was used
  /// longest ago goes from `folder`, but never what this cache has built or found there. Throws
  /// UsageError as cache_limit() does.
  explicit DiskCache(std::filesystem::path folder, std::filesystem::path spare = {},
                     std::uint64_t limit = cache_limit());
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  /// The image of `text` under `toolchain`, compiled unless a sound entry is there. Written to a
  /// temporary name and renamed, so that any number of processes and threads may ask at once. The
  /// file is the toolchain's image followed by 24 bytes (checksum and magic), which ELF loaders do
  /// not look at. Throws CompileError, or DeviceError where no folder at all can be written.
  std::filesystem::path image(const std::string& text, const Toolchain& toolchain);

  /// Where the rendered text of that image lies.
  std::filesystem::path source_path(const std::string& text, const Toolchain& toolchain) const;

  /// What `folder` did not take, a line each, since this was last asked: which folder, why, where
  /// the modules are instead, what to do. The same line is given once, and is on stderr already.
  std::vector<std::string> take_warnings();

 private:
  enum class Place : std::uint8_t { folder, spare, temporary };  ///< in the order of trying
  struct Refusals;

  std::vector<std::filesystem::path> folders() const;
  std::filesystem::path find(const std::string& entry, const std::string& file);
  std::filesystem::path put(const std::string& file, std::string_view bytes, Place& place);
  std::filesystem::path folder_at(Place place, const Refusals& refusals);
  std::filesystem::path make_temporary_folder(const Refusals& refusals);
  void warn(const Refusals& refusals, Place place);
  void keep(const std::string& entry);
  void make_room() const;

  const std::filesystem::path folder_;
  const std::filesystem::path spare_;  ///< empty: none
  const std::uint64_t limit_;
  mutable std::mutex mutex_;
  std::set<std::string> kept_;       ///< entries built or found in folder_
  std::filesystem::path temporary_;  ///< empty until it is needed
  std::set<std::string> warned_;
  std::vector<std::string> warnings_;  ///< not yet taken
};

}  // namespace parity
