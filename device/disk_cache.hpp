// Content-addressed images on disk: the name is the digest of text, options and toolchain, so an entry
// can be old but never wrong. Each entry ends in a checksum; a damaged one is rebuilt with a warning.
#pragma once

#include <filesystem>
#include <string>

#include "device/toolchain.hpp"

namespace parity {

class DiskCache {
 public:
  /// Creates `folder`. Where it cannot be written, warns on stderr and works in a temporary folder that
  /// is removed at the end.
  explicit DiskCache(std::filesystem::path folder);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  /// The image of `text` under `toolchain`, compiled unless a sound entry is there. Written to a temporary
  /// name and renamed, so that any number of processes may ask at once. Throws CompileError.
  std::filesystem::path image(const std::string& text, const Toolchain& toolchain);

  /// Where the rendered text of that image lies.
  std::filesystem::path source_path(const std::string& text, const Toolchain& toolchain) const;

 private:
  std::filesystem::path folder_;
  bool temporary_ = false;
};

}  // namespace parity
