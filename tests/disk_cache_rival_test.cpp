// The disk cache beside a rival that evicts at the worst moment: when an image is marked as used.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <utility>

#include "device/disk_cache.hpp"
#include "fake_device.hpp"
#include "temporary_folder.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

/// What happens just before the next file is marked, once.
std::function<void()>& before_marking() {
  static std::function<void()> rival;
  return rival;
}

}  // namespace
}  // namespace parity

/// Stands before the C library's in this program.
extern "C" int utimensat(int folder, const char* path, const timespec times[2],
                         int flags) noexcept {
  if (const auto rival = std::exchange(parity::before_marking(), nullptr)) rival();
  return static_cast<int>(syscall(SYS_utimensat, folder, path, times, flags));
}

namespace parity {
namespace {

TEST(DiskCacheRivalTest, AnImageThatIsEvictedWhileItIsLookedForIsBuiltAgain) {
  const TemporaryFolder folder;
  const FakeToolchain toolchain;
  const fs::path image = DiskCache(folder.path()).image("text", toolchain);
  fs::last_write_time(image, fs::file_time_type::clock::now() - std::chrono::hours(9));
  fs::last_write_time(fs::path(image).replace_extension(".cpp"),
                      fs::file_time_type::clock::now() - std::chrono::hours(9));
  std::uint64_t evicted = 0;
  before_marking() = [&] { evicted = evict(read_cache_folder(folder.path()), 0, {}); };
  EXPECT_EQ(DiskCache(folder.path()).image("text", toolchain), image);
  EXPECT_GT(evicted, 0u) << "the rival never came";
  EXPECT_EQ(image_state(image), ImageState::sound);
  EXPECT_EQ(toolchain.compiles, 2);
}

}  // namespace
}  // namespace parity
