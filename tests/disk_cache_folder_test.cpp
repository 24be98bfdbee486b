// The disk cache in folders that are missing, full, read-only or somebody else's.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <system_error>

#include "device/disk_cache.hpp"
#include "fake_device.hpp"
#include "temporary_folder.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr int kCannotTry = 77;

bool holds(const fs::path& image, const std::string& text) {
  return read_file(image).starts_with("image of " + text);
}

/// Runs `body` in a process of its own, which may take rights and room from itself; its result.
int in_a_process(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    int result = 1;
    try {
      result = body();
    } catch (const std::exception& error) {
      fprintf(stderr, "%s\n", error.what());
    }
    _exit(result);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Root may write everywhere, by its capabilities; without them a folder's permissions bind it too.
/// Anybody may give up their own.
void give_up_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capset, &header, none) != 0)
    throw std::system_error(errno, std::generic_category(), "capabilities cannot be given up");
}

class DiskCacheFolderTest : public testing::Test {
 protected:
  void SetUp() override { fs::permissions(folder_.path(), fs::perms(0755)); }
  void TearDown() override {
    std::error_code error;
    fs::permissions(modules_, fs::perms(0755), error);
  }

  TemporaryFolder folder_;
  const fs::path modules_ = folder_.path() / "modules";
  FakeToolchain toolchain_;
};

TEST_F(DiskCacheFolderTest, AReadOnlyFolderIsUsedForWhatItHas) {
  const fs::path image = DiskCache(modules_).image("there", toolchain_);
  fs::permissions(modules_, fs::perms(0555));
  EXPECT_EQ(in_a_process([&] {
              give_up_capabilities();
              DiskCache cache(modules_);
              if (cache.image("there", toolchain_) != image || toolchain_.compiles != 1) return 2;
              const fs::path other = cache.image("missing", toolchain_);
              if (!holds(other, "missing") || other.parent_path() == modules_) return 3;
              return toolchain_.compiles == 2 ? 0 : 4;
            }),
            0);
  EXPECT_EQ(std::distance(fs::directory_iterator(modules_), {}), 2) << "as it was";
}

TEST_F(DiskCacheFolderTest, ADamagedEntryThatCannotBeReplacedIsNotUsed) {
  const fs::path image = DiskCache(modules_).image("text", toolchain_);
  fs::resize_file(image, fs::file_size(image) - 1);
  fs::permissions(modules_, fs::perms(0555));
  EXPECT_EQ(in_a_process([&] {
              give_up_capabilities();
              DiskCache cache(modules_);
              return holds(cache.image("text", toolchain_), "text") ? 0 : 2;
            }),
            0);
}

TEST_F(DiskCacheFolderTest, AMissingFolderIsMadeAlsoWhereItGoesLater) {
  DiskCache cache(modules_ / "deep" / "inside");
  EXPECT_TRUE(holds(cache.image("one", toolchain_), "one"));
  fs::remove_all(modules_);
  testing::internal::CaptureStderr();
  const fs::path image = cache.image("one", toolchain_);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(image.parent_path(), modules_ / "deep" / "inside");
  EXPECT_TRUE(holds(image, "one"));
}

TEST_F(DiskCacheFolderTest, AnImageTooLargeToWriteAnywhereIsADeviceErrorThatLeavesNothing) {
  const std::string text(64 << 10, 'x');
  EXPECT_EQ(in_a_process([&] {
              constexpr rlimit kSmall{16 << 10, 16 << 10};
              signal(SIGXFSZ, SIG_IGN);
              if (setrlimit(RLIMIT_FSIZE, &kSmall) != 0) return kCannotTry;
              try {
                DiskCache(modules_).image(text, toolchain_);
              } catch (const DeviceError&) {
                return 0;
              }
              return 2;
            }),
            0);
  EXPECT_TRUE(fs::is_empty(modules_));
  EXPECT_TRUE(holds(DiskCache(modules_).image(text, toolchain_), text));
}

TEST_F(DiskCacheFolderTest, AFullFileSystemIsReplacedByATemporaryFolder) {
  fs::create_directory(modules_);
  const std::string text(128 << 10, 'x');
  const int result = in_a_process([&] {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", modules_.c_str(), "tmpfs", 0, "size=64k") != 0)
      return kCannotTry;
    DiskCache cache(modules_);
    const fs::path image = cache.image(text, toolchain_);
    if (!holds(image, text) || image.parent_path() == modules_) return 2;
    if (!fs::is_empty(modules_)) return 3;
    return holds(cache.image("small", toolchain_), "small") ? 0 : 4;
  });
  if (result == kCannotTry) GTEST_SKIP() << "only root with CAP_SYS_ADMIN may mount a tmpfs";
  EXPECT_EQ(result, 0);
}

TEST_F(DiskCacheFolderTest, ForeignFilesAreLeftAlone) {
  fs::create_directory(modules_);
  std::ofstream(modules_ / "notes.txt") << "mine";
  std::ofstream(modules_ / "0123456789abcdef0123456789abcdef") << "also mine";
  DiskCache cache(modules_, {}, 0);
  EXPECT_TRUE(holds(cache.image("one", toolchain_), "one"));
  EXPECT_TRUE(holds(cache.image("two", toolchain_), "two"));
  EXPECT_EQ(read_file(modules_ / "notes.txt"), "mine");
  EXPECT_EQ(read_file(modules_ / "0123456789abcdef0123456789abcdef"), "also mine");
}

}  // namespace
}  // namespace parity
