#include "datasets/pack_seal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/errors.hpp"
#include "datasets/pack.hpp"

namespace parity::pack_seal {
namespace {

constexpr std::string_view kFamily = "parity.pack/";
constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1a\n";

class ReadOnlyFile {
 public:
  explicit ReadOnlyFile(const hdf5::Failures& failures)
      : failures_(failures),
        descriptor_(::open(failures.file().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0)
      throw DatasetError(fmt::format("pack '{}' cannot be read: {}; check the path",
                                     failures.file().string(), std::strerror(errno)));
  }
  ~ReadOnlyFile() { ::close(descriptor_); }
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;

  std::uint64_t bytes() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) failures_.raise(std::strerror(errno));
    if (!S_ISREG(status.st_mode)) failures_.raise("it is not a regular file");
    return static_cast<std::uint64_t>(status.st_size);
  }

  /// Up to `size` bytes, fewer only where the file ends.
  std::size_t read(char* to, std::size_t size) const {
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got = ::read(descriptor_, to + done, size - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) failures_.raise(std::strerror(errno));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  const hdf5::Failures& failures_;
  int descriptor_;
};

/// The first line, shown as far as it can be: it may be of any file.
std::string first_line(std::string_view block) {
  std::string line(block.substr(0, std::min(block.find('\n'), kFamily.size() + 16)));
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return line;
}

/// Throws where the block does not even claim to be of this schema.
void require_schema(std::string_view block, const hdf5::Failures& failures) {
  if (block.starts_with(kHdf5Signature))
    failures.raise(fmt::format(
        "it is HDF5 without the user block of '{}': foreign, or a pack of an older schema",
        kPackSchema));
  if (!block.starts_with(kFamily)) failures.raise("it is no pack");
  if (const std::string found = first_line(block); found != kPackSchema)
    failures.raise(fmt::format("its schema is '{}', this program reads '{}'", found, kPackSchema));
}

std::vector<char> read_rest(const ReadOnlyFile& file, std::uint64_t bytes) {
  std::vector<char> rest(static_cast<std::size_t>(bytes));
  rest.resize(file.read(rest.data(), rest.size()));
  return rest;
}

/// What the block says the file's length is; nothing where it does not say it as block_of() does.
std::uint64_t claimed_bytes(std::string_view block) {
  constexpr std::string_view kWord = "\nbytes ";
  const std::size_t at = block.find(kWord);
  std::uint64_t bytes = 0;
  if (at == std::string_view::npos) return bytes;
  for (const char c : block.substr(at + kWord.size(), 18)) {
    if (c < '0' || c > '9') break;
    bytes = bytes * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return bytes;
}

}  // namespace

Block block_of(const Digest& of_the_rest, std::uint64_t file_bytes) {
  const std::string text =
      fmt::format("{}\nxxh3-128 {}\nbytes {}\n", kPackSchema, of_the_rest.hex(), file_bytes);
  Block block{};
  std::ranges::copy(text, block.begin());
  return block;
}

Sealed check(const hdf5::Failures& failures) {
  const ReadOnlyFile file(failures);
  const std::uint64_t bytes = file.bytes();
  Block block{};
  const std::size_t size = file.read(block.data(), block.size());
  const std::string_view text(block.data(), size);
  if (size == 0) failures.raise("it is empty");
  require_schema(text, failures);
  if (size < block.size()) failures.raise(fmt::format("it is cut short: it has {} bytes", size));
  const std::vector<char> rest = read_rest(file, bytes - std::min<std::uint64_t>(bytes, size));
  const Digest sum = digest(std::as_bytes(std::span(rest)));
  if (block == block_of(sum, bytes)) return {sum, bytes};
  if (const std::uint64_t claimed = claimed_bytes(text); claimed > bytes)
    failures.raise(fmt::format("it is cut short: {} of {} bytes are there", bytes, claimed));
  failures.raise(fmt::format(
      "it is damaged: its bytes, whose digest is {}, are not those that its user block was "
      "written for",
      sum.hex()));
}

}  // namespace parity::pack_seal
