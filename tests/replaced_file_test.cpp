// A file is replaced as a whole, or is as it was.
#include "datasets/replaced_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

class ReplacedFileTest : public testing::Test {
 protected:
  std::string content() const {
    std::ifstream in(target_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator());
  }
  static void write(ReplacedFile& file, std::string_view text) {
    file.write(std::as_bytes(std::span(text)));
  }

  TemporaryFolder folder_;
  fs::path target_ = folder_.path() / "file";
};

TEST_F(ReplacedFileTest, TheTargetIsAsItWasUntilTheCommit) {
  replace_file(target_, "old");
  {
    ReplacedFile file(target_);
    write(file, "ne");
    write(file, "w");
    EXPECT_EQ(content(), "old");
    file.sync();
    file.commit();
    file.sync_folder();
    EXPECT_EQ(content(), "new");
  }
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(ReplacedFileTest, WithoutACommitNothingStays) {
  replace_file(target_, "old");
  {
    ReplacedFile file(target_);
    write(file, "half");
  }
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(ReplacedFileTest, TwoWritersDoNotShareATemporaryFile) {
  ReplacedFile first(target_), second(target_);
  EXPECT_NE(first.temporary(), second.temporary());
  write(first, "first");
  write(second, "second");
  first.commit();
  EXPECT_EQ(content(), "first");
  second.commit();
  EXPECT_EQ(content(), "second");
}

TEST_F(ReplacedFileTest, WhatAKilledWriterLeftIsNotTouched) {
  const fs::path leftover = ReplacedFile(target_).temporary();
  std::ofstream(leftover) << "left";
  replace_file(target_, "new");
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(fs::file_size(leftover), 4u);
}

TEST_F(ReplacedFileTest, AFolderInItsPlaceIsAnErrorThatLeavesNothing) {
  fs::create_directory(target_);
  try {
    replace_file(target_, "new");
    FAIL() << "a folder was replaced";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::is_a_directory);
    EXPECT_TRUE(std::string_view(error.what()).starts_with("renaming '" + target_.string()))
        << error.what();
  }
  EXPECT_EQ(files(), 1);
}

TEST_F(ReplacedFileTest, AMissingFolderIsAnErrorThatNamesTheFile) {
  const fs::path nowhere = folder_.path() / "nowhere" / "file";
  try {
    const ReplacedFile file(nowhere);
    FAIL() << "opened";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    EXPECT_TRUE(std::string_view(error.what()).starts_with("opening '" + nowhere.string()))
        << error.what();
  }
}

TEST_F(ReplacedFileTest, PermissionsAreThoseAskedForLessTheUmask) {
  const auto mode_of = [&](unsigned permissions) {
    ReplacedFile(target_, permissions).commit();
    return fs::status(target_).permissions();
  };
  const mode_t before = ::umask(007);
  const fs::perms shared = mode_of(0666);
  const fs::perms own = mode_of(0600);
  ::umask(before);
  EXPECT_EQ(shared, static_cast<fs::perms>(0660));
  EXPECT_EQ(own, static_cast<fs::perms>(0600));
}

}  // namespace
}  // namespace parity
