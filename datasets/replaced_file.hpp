// Files that are there as a whole or as they were before: a temporary name, then a rename.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace parity {

/// What will take the place of a file. Every function throws std::system_error, whose words are
/// "writing '<temporary>': <reason>"; the target is then as it was, but for sync_folder().
class ReplacedFile {
 public:
  /// Makes `<target>.tmp.<pid>.<number>`, which no other process or thread has. `permissions` are
  /// before the umask.
  explicit ReplacedFile(std::filesystem::path target, unsigned permissions = 0644);
  /// Removes the temporary file unless committed.
  ~ReplacedFile();
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  const std::filesystem::path& temporary() const { return temporary_; }

  /// Appends.
  void write(std::span<const std::byte> bytes);
  /// To the disk, for files that must survive a crash of the machine.
  void sync();
  /// Takes the target's place.
  void commit();
  /// After commit(): the name to the disk, as sync() does with the bytes. Where it throws, the
  /// target is the new file already.
  void sync_folder() const;

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  bool committed_ = false;
};

/// Writes, syncs and commits.
void replace_file(const std::filesystem::path& target, std::string_view bytes);

}  // namespace parity
