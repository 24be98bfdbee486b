// What libFuzzer calls with bytes that may be a pack, and pack_fuzz_test with damage it makes
// itself: they are read whole or refused in one line.
#include "tests/fuzz/pack_fuzz.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"
#include "datasets/pack.hpp"

namespace parity::fuzz {
namespace {

[[noreturn]] void stop(const char* what) {
  std::fprintf(stderr, "pack_fuzz: %s\n", what);
  std::abort();
}

/// A file below TMPDIR, which is best a folder in memory. (HDF5 takes no file without a name.)
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes)
      : path_(std::filesystem::temp_directory_path() / "pack_fuzz_XXXXXX") {
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor < 0) stop("no temporary file can be made; set TMPDIR");
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
      if (written <= 0) stop("a temporary file cannot be written; set TMPDIR");
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    ::close(descriptor);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr std::size_t kBlock = 512;

/// The bytes behind a user block that was written for them: what gets past it.
std::string sealed(std::string_view bytes) {
  const std::string_view rest = bytes.substr(std::min(kBlock, bytes.size()));
  std::string block = std::string(kPackSchema) + "\nxxh3-128 " + digest(rest).hex() + "\nbytes " +
                      std::to_string(kBlock + rest.size()) + "\n";
  block.resize(kBlock, '\0');
  return block.append(rest);
}

bool readable(std::string_view bytes) {
  const TemporaryFile file(bytes);
  try {
    const PackReader reader(file.path());
    for (const std::string& id : reader.ids()) reader.read(id);
    return true;
  } catch (const DatasetError& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos)
      stop("a message of several lines");
    return false;
  }
}

}  // namespace

Seen read_as_is_and_sealed(std::string_view bytes) {
  return {readable(bytes), readable(sealed(bytes))};
}

}  // namespace parity::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  parity::fuzz::read_as_is_and_sealed({reinterpret_cast<const char*>(data), size});
  return 0;
}
