// What counts as an entry, what is sound, and what goes when there is too much.
#include "device/cache_folder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "device/disk_cache.hpp"
#include "fake_device.hpp"
#include "temporary_folder.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::minutes;

const std::string kName = "0123456789abcdef0123456789abcdef";

class CacheFolderTest : public testing::Test {
 protected:
  /// An entry of `text`, as if used so long ago.
  fs::path entry(const std::string& text, minutes ago, std::uint64_t limit = 1 << 30) {
    fs::path image = DiskCache(folder_.path(), {}, limit).image(text, toolchain_);
    age(image, ago);
    return image;
  }
  void age(const fs::path& image, minutes ago) {
    const auto then = fs::file_time_type::clock::now() - ago;
    fs::last_write_time(image, then);
    fs::last_write_time(fs::path(image).replace_extension(".cpp"), then);
  }
  fs::path foreign(const std::string& name) {
    const fs::path path = folder_.path() / name;
    std::ofstream(path) << "not ours";
    return path;
  }
  bool is_there(const fs::path& image) {
    EXPECT_EQ(fs::exists(image), fs::exists(fs::path(image).replace_extension(".cpp")))
        << "sources go with their images";
    return fs::exists(image);
  }

  TemporaryFolder folder_;
  FakeToolchain toolchain_;
};

TEST_F(CacheFolderTest, EntriesAreToldFromForeignFiles) {
  EXPECT_EQ(entry_of("/x/" + kName + ".so"), kName);
  EXPECT_EQ(entry_of(kName + ".cubin.tmp.17.0"), kName);
  EXPECT_EQ(entry_of(kName + ".cu"), kName);
  const std::vector<std::string> foreign_names = {kName,
                                                  kName + ".txt",
                                                  "x" + kName + ".so",
                                                  ".so",
                                                  "libc.so",
                                                  kName.substr(1) + ".so",
                                                  "notes.md",
                                                  "ABCDEF0123456789abcdef0123456789.so"};
  for (const std::string& name : foreign_names) EXPECT_EQ(entry_of(name), "") << name;
  EXPECT_TRUE(is_image(kName + ".so"));
  EXPECT_FALSE(is_image(kName + ".cpp"));
  EXPECT_FALSE(is_image(kName + ".so.tmp.17.0"));
}

TEST_F(CacheFolderTest, AFolderIsReadByNameWithItsBytes) {
  const fs::path image = entry("text", hours(1));
  const fs::path other = foreign("readme");
  fs::create_directory(folder_.path() / (kName + ".so"));
  const CacheFolder found = read_cache_folder(folder_.path());
  ASSERT_EQ(found.entries.size(), 1u);
  EXPECT_EQ(found.entries[0].name, image.stem());
  ASSERT_EQ(found.entries[0].files.size(), 2u);
  EXPECT_EQ(found.entries[0].files[0], image);
  EXPECT_EQ(found.bytes(), fs::file_size(image) + 4);
  EXPECT_EQ(found.foreign, (std::vector<fs::path>{folder_.path() / (kName + ".so"), other}));
}

TEST_F(CacheFolderTest, AFolderThatIsNotThereIsEmptyAndAFileIsNone) {
  EXPECT_TRUE(read_cache_folder(folder_.path() / "no").entries.empty());
  EXPECT_THROW(read_cache_folder(foreign("file")), DatasetError);
}

TEST_F(CacheFolderTest, ImagesAreSoundDamagedOrAbsent) {
  const fs::path image = entry("text", hours(1));
  EXPECT_EQ(image_state(image), ImageState::sound);
  EXPECT_EQ(image_state(folder_.path() / (kName + ".so")), ImageState::absent);
  fs::copy_file(image, folder_.path() / (kName + ".so"));
  EXPECT_EQ(image_state(folder_.path() / (kName + ".so")), ImageState::damaged) << "a foreign name";
  fs::resize_file(image, fs::file_size(image) - 1);
  EXPECT_EQ(image_state(image), ImageState::damaged);
}

TEST_F(CacheFolderTest, WhatWasUsedLongestAgoGoesFirst) {
  const fs::path oldest = entry("first", hours(9));
  const fs::path newest = entry("other", hours(1));
  const fs::path middle = entry("third", hours(5));
  const std::uint64_t all = read_cache_folder(folder_.path()).bytes();
  EXPECT_EQ(evict(read_cache_folder(folder_.path()), all, {}), 0u);
  EXPECT_EQ(evict(read_cache_folder(folder_.path()), all - 1, {}), all / 3);
  EXPECT_FALSE(is_there(oldest));
  EXPECT_TRUE(is_there(middle) && is_there(newest));
  EXPECT_EQ(evict(read_cache_folder(folder_.path()), 0, {newest.stem()}), all / 3);
  EXPECT_FALSE(is_there(middle));
  EXPECT_TRUE(is_there(newest)) << "kept";
}

TEST_F(CacheFolderTest, AHitMakesAnEntryTheLastToGo) {
  const fs::path used = entry("first", hours(9));
  const fs::path idle = entry("other", hours(5));
  DiskCache(folder_.path()).image("first", toolchain_);
  EXPECT_EQ(toolchain_.compiles, 2);
  evict(read_cache_folder(folder_.path()), read_cache_folder(folder_.path()).bytes() - 1, {});
  EXPECT_TRUE(is_there(used));
  EXPECT_FALSE(is_there(idle));
}

/// Between finding an image and opening it, another process may need room.
TEST_F(CacheFolderTest, WhatWasUsedJustNowStays) {
  const fs::path image = entry("text", hours(0));
  EXPECT_EQ(evict(read_cache_folder(folder_.path()), 0, {}), 0u);
  EXPECT_TRUE(is_there(image));
}

/// One worker prepared it, another one of the same run is about to run it.
TEST_F(CacheFolderTest, WhatWasUsedMinutesAgoStays) {
  const fs::path image = entry("text", minutes(9));
  EXPECT_EQ(evict(read_cache_folder(folder_.path()), 0, {}), 0u);
  EXPECT_TRUE(is_there(image));
}

TEST_F(CacheFolderTest, WhatIsUsedWhileRoomIsMadeStays) {
  const fs::path used = entry("first", hours(9));
  const fs::path idle = entry("other", hours(9));
  CacheFolder found = read_cache_folder(folder_.path());
  EXPECT_EQ(use_image(used), ImageState::sound);
  evict(std::move(found), 0, {});
  EXPECT_TRUE(is_there(used));
  EXPECT_FALSE(is_there(idle));
}

TEST_F(CacheFolderTest, WhatARivalRemovedMeanwhileMakesRoomToo) {
  entry("first", hours(9));
  const fs::path second = entry("other", hours(5));
  const CacheFolder found = read_cache_folder(folder_.path());
  EXPECT_EQ(evict(found, found.bytes() - 1, {}), found.bytes() / 2);
  EXPECT_EQ(evict(found, found.bytes() - 1, {}), 0u);
  EXPECT_TRUE(is_there(second)) << "the rival made room enough";
}

TEST_F(CacheFolderTest, WhatIsRemovedIsCountedAndWhatIsGoneIsNot) {
  entry("text", hours(1));
  const CacheEntry found = read_cache_folder(folder_.path()).entries.at(0);
  EXPECT_EQ(remove_entry(found), (Removed{2, found.bytes}));
  EXPECT_EQ(remove_entry(found), Removed{});
}

TEST_F(CacheFolderTest, AStampInTheFutureKeepsNothingForEver) {
  const fs::path image = entry("text", hours(-24 * 365));
  EXPECT_GT(evict(read_cache_folder(folder_.path()), 0, {}), 0u);
  EXPECT_FALSE(is_there(image));
}

TEST_F(CacheFolderTest, BuildingMakesRoomButKeepsWhatItBuilt) {
  const fs::path old = entry("old", hours(9));
  const fs::path file = foreign("readme");
  DiskCache cache(folder_.path(), {}, 1);
  const fs::path first = cache.image("one", toolchain_);
  EXPECT_FALSE(is_there(old));
  age(first, hours(9));
  const fs::path second = cache.image("two", toolchain_);
  EXPECT_TRUE(is_there(first)) << "built by this very cache";
  EXPECT_TRUE(is_there(second));
  EXPECT_TRUE(fs::exists(file));
}

/// A run that is longer than the grace needs again what it has only found.
TEST_F(CacheFolderTest, BuildingKeepsWhatWasFound) {
  const fs::path found = entry("found", hours(9));
  DiskCache cache(folder_.path(), {}, 1);
  EXPECT_EQ(cache.image("found", toolchain_), found);
  EXPECT_EQ(toolchain_.compiles, 1);
  age(found, hours(9));
  cache.image("new", toolchain_);
  EXPECT_TRUE(is_there(found));
}

TEST_F(CacheFolderTest, AnImageInUseOutlivesItsEntry) {
  const fs::path image = entry("text", hours(9));
  std::ifstream in_use(image, std::ios::binary);
  evict(read_cache_folder(folder_.path()), 0, {});
  EXPECT_FALSE(is_there(image));
  const std::string bytes{std::istreambuf_iterator<char>(in_use), {}};
  EXPECT_TRUE(bytes.starts_with("image of text"));
}

TEST_F(CacheFolderTest, LeftoversOfAKilledWriterGoWithTheirEntry) {
  const fs::path leftover = foreign(kName + ".so.tmp.17.0");
  fs::last_write_time(leftover, fs::file_time_type::clock::now() - hours(9));
  EXPECT_EQ(evict(read_cache_folder(folder_.path()), 0, {}), 8u);
  EXPECT_FALSE(fs::exists(leftover));
}

class CacheLimitTest : public testing::Test {
 protected:
  void TearDown() override {
    before_ ? setenv(kVariable, before_->c_str(), 1) : unsetenv(kVariable);
  }
  static constexpr const char* kVariable = "PARITY_CACHE_BYTES";
  std::optional<std::string> before_ = [] {
    const char* const value = std::getenv(kVariable);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }();
};

TEST_F(CacheLimitTest, TheVariableDecidesElseFourGibibytes) {
  unsetenv(kVariable);
  EXPECT_EQ(cache_limit(), std::uint64_t{4} << 30);
  setenv(kVariable, "1000", 1);
  EXPECT_EQ(cache_limit(), 1000u);
}

TEST_F(CacheLimitTest, WhatIsNoNumberIsRefused) {
  for (const char* value : {"", "4G", "-1", " 1", "1e9", "99999999999999999999"}) {
    setenv(kVariable, value, 1);
    EXPECT_THROW(cache_limit(), UsageError) << value;
  }
}

}  // namespace
}  // namespace parity
