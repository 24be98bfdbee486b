// The disk cache beside a spare folder: what its own folder does not take is compiled once for all
// that share the spare one.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "device/disk_cache.hpp"
#include "fake_device.hpp"
#include "temporary_folder.hpp"
#include "tests/rival_processes.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

bool holds(const fs::path& image, const std::string& text) {
  return read_file(image).starts_with("image of " + text);
}

class DiskCacheSpareTest : public testing::Test {
 protected:
  /// Where the image of `text` belongs stands a folder instead, with something in it.
  fs::path block(const std::string& text) {
    const fs::path image = DiskCache(modules_).image(text, toolchain_);
    toolchain_.compiles = 0;
    fs::remove(image);
    fs::create_directories(image / "something");
    return image;
  }
  /// What it prints is what it tells.
  std::vector<std::string> warnings(DiskCache& cache, const std::string& text) {
    testing::internal::CaptureStderr();
    cache.image(text, toolchain_);
    const std::string log = testing::internal::GetCapturedStderr();
    std::vector<std::string> lines = cache.take_warnings();
    for (const std::string& line : lines)
      EXPECT_NE(log.find("warning: " + line + "\n"), std::string::npos) << log;
    return lines;
  }

  TemporaryFolder folder_;
  const fs::path modules_ = folder_.path() / "modules";
  const fs::path spare_ = folder_.path() / "run" / "modules";
  /// A path below a plain file can be created by nobody, root included.
  const fs::path nowhere_ = folder_.path() / "file" / "modules";
  FakeToolchain toolchain_;

  void SetUp() override { std::ofstream(folder_.path() / "file") << "in the way"; }
};

TEST_F(DiskCacheSpareTest, TheSpareFolderIsMadeOnlyWhenItIsNeeded) {
  DiskCache cache(modules_, spare_);
  EXPECT_EQ(cache.image("text", toolchain_).parent_path(), modules_);
  EXPECT_TRUE(cache.take_warnings().empty());
  EXPECT_FALSE(fs::exists(spare_.parent_path()));
}

TEST_F(DiskCacheSpareTest, AnEntryWhosePlaceIsTakenIsCompiledOnceForAllCaches) {
  const fs::path taken = block("text");
  const fs::path image = DiskCache(modules_, spare_).image("text", toolchain_);
  EXPECT_EQ(image, spare_ / taken.filename());
  EXPECT_TRUE(holds(image, "text"));
  EXPECT_EQ(toolchain_.compiles, 1) << "an image that cannot be written is not compiled again";

  testing::internal::CaptureStderr();
  DiskCache second(modules_, spare_);
  EXPECT_EQ(second.image("text", toolchain_), image);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "nothing is built again";
  EXPECT_EQ(toolchain_.compiles, 1);
  EXPECT_EQ(read_file(second.source_path("text", toolchain_)), "text");
  EXPECT_TRUE(fs::is_directory(taken / "something"));
}

TEST_F(DiskCacheSpareTest, OneEntryThatIsTakenLeavesTheFolderToTheOthers) {
  block("taken");
  DiskCache cache(modules_, spare_);
  cache.image("taken", toolchain_);
  EXPECT_EQ(cache.image("other", toolchain_).parent_path(), modules_);
  EXPECT_EQ(DiskCache(modules_, spare_).image("other", toolchain_).parent_path(), modules_);
  EXPECT_EQ(toolchain_.compiles, 2);
}

TEST_F(DiskCacheSpareTest, ASourceWhosePlaceIsTakenTakesItsImageAlong) {
  const fs::path source = fs::path(block("text")).replace_extension(".cpp");
  fs::remove(source);
  fs::create_directory(source);
  DiskCache cache(modules_, spare_);
  EXPECT_EQ(cache.image("text", toolchain_).parent_path(), spare_);
  EXPECT_EQ(read_file(cache.source_path("text", toolchain_)), "text");
  EXPECT_TRUE(fs::is_directory(source));
}

TEST_F(DiskCacheSpareTest, AFolderThatCannotBeWrittenIsCompiledForOnce) {
  const fs::path image = DiskCache(nowhere_, spare_).image("text", toolchain_);
  DiskCache second(nowhere_, spare_);
  EXPECT_EQ(second.image("text", toolchain_), image);
  EXPECT_EQ(image.parent_path(), spare_);
  EXPECT_EQ(toolchain_.compiles, 1);
  EXPECT_EQ(read_file(second.source_path("text", toolchain_)), "text");
}

TEST_F(DiskCacheSpareTest, TheWarningNamesFolderReasonSpareFolderAndRemedyOnce) {
  DiskCache cache(nowhere_, spare_);
  const std::vector<std::string> lines = warnings(cache, "one");
  ASSERT_EQ(lines.size(), 1u);
  for (const std::string& words : {nowhere_.string(), std::string("Not a directory"),
                                   spare_.string(), std::string("make it writable")})
    EXPECT_NE(lines[0].find(words), std::string::npos) << words << "\n" << lines[0];
  EXPECT_TRUE(warnings(cache, "two").empty()) << "said already";

  block("text");
  DiskCache blocked(modules_, spare_);
  const std::vector<std::string> taken = warnings(blocked, "text");
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_NE(taken[0].find("remove the folder"), std::string::npos) << taken[0];
}

TEST_F(DiskCacheSpareTest, ADamagedImageInTheSpareFolderIsBuiltAgain) {
  const fs::path image = DiskCache(nowhere_, spare_).image("text", toolchain_);
  fs::resize_file(image, fs::file_size(image) - 1);
  EXPECT_EQ(DiskCache(nowhere_, spare_).image("text", toolchain_), image);
  EXPECT_TRUE(holds(image, "text"));
  EXPECT_EQ(toolchain_.compiles, 2);
}

TEST_F(DiskCacheSpareTest, WhatNeitherFolderTakesLiesInATemporaryOne) {
  fs::path image;
  {
    DiskCache cache(nowhere_, nowhere_ / "spare");
    const std::vector<std::string> lines = warnings(cache, "text");
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find("every process compiles them again"), std::string::npos) << lines[0];
    image = cache.image("text", toolchain_);
    EXPECT_TRUE(holds(image, "text"));
    EXPECT_EQ(toolchain_.compiles, 1);
  }
  EXPECT_FALSE(fs::exists(image.parent_path()));
}

TEST_F(DiskCacheSpareTest, EightProcessesShareAColdSpareFolder) {
  toolchain_.delay = std::chrono::milliseconds(20);
  ASSERT_NO_FATAL_FAILURE(expect_in_eight_processes([&] {
    bool right = true;
    for (const std::string text : {"one", "two"})
      right = right && holds(DiskCache(nowhere_, spare_).image(text, toolchain_), text);
    return right;
  }));
  EXPECT_EQ(std::distance(fs::directory_iterator(spare_), {}), 4) << "two sources, two images";
  EXPECT_TRUE(holds(DiskCache(nowhere_, spare_).image("two", toolchain_), "two"));
  EXPECT_EQ(toolchain_.compiles, 0) << "the children's images are sound";
}

}  // namespace
}  // namespace parity
