// Content-addressed images on disk: the name is the digest of text, options and toolchain, so an
// entry can be old but never wrong. Each entry ends in a checksum; a damaged one is rebuilt with a
// warning.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>

#include "device/cache_folder.hpp"
#include "device/toolchain.hpp"

namespace parity {

class DiskCache {
 public:
  /// Creates `folder`. Sound entries in it are used even where it cannot be written; what is
  /// missing is then compiled, after one warning on stderr, into a temporary folder that is removed
  /// at the end. From `limit` bytes on, what was used longest ago goes, but never what this cache
  /// has built or found. Throws UsageError as cache_limit() does.
  explicit DiskCache(std::filesystem::path folder, std::uint64_t limit = cache_limit());
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

 private:
  std::filesystem::path build(const std::filesystem::path& folder, const std::string& entry,
                              const std::string& text, const Toolchain& toolchain) const;
  void keep(const std::string& entry);
  void make_room() const;
  std::filesystem::path fallback() const;
  std::filesystem::path make_fallback(const std::string& reason);

  const std::filesystem::path folder_;
  const std::uint64_t limit_;
  mutable std::mutex mutex_;
  std::set<std::string> kept_;      ///< entries built or found
  std::filesystem::path fallback_;  ///< empty until folder_ could not be written
};

}  // namespace parity
