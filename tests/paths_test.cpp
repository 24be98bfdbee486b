// Where files live, by environment.
#include "harness/paths.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "datasets/errors.hpp"
#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

/// Sets the four variables that decide, and puts them back.
class PathsTest : public testing::Test {
 protected:
  PathsTest() {
    for (const char* name : {"PARITY_HOME", "PARITY_RUNS", "XDG_CACHE_HOME", "HOME"}) {
      const char* value = std::getenv(name);
      before_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      unsetenv(name);
    }
  }
  ~PathsTest() override {
    for (const auto& [name, value] : before_) {
      unsetenv(name.c_str());
      if (value) setenv(name.c_str(), value->c_str(), 1);
    }
  }
  static void set(const char* name, const fs::path& value) { setenv(name, value.c_str(), 1); }
  TemporaryFolder folder_;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(PathsTest, ParityHomeComesFirst) {
  set("PARITY_HOME", folder_.path() / "own");
  set("XDG_CACHE_HOME", folder_.path() / "xdg");
  set("HOME", folder_.path());
  EXPECT_EQ(paths().modules, folder_.path() / "own" / "modules");
  EXPECT_TRUE(fs::is_directory(folder_.path() / "own" / "packs"));
  EXPECT_TRUE(fs::is_directory(folder_.path() / "own" / "runs"));
  EXPECT_FALSE(fs::exists(folder_.path() / "xdg"));
}

TEST_F(PathsTest, RunsMayLieApart) {
  set("PARITY_HOME", folder_.path() / "own");
  set("PARITY_RUNS", folder_.path() / "night" / "runs");
  EXPECT_EQ(paths().runs, folder_.path() / "night" / "runs");
  EXPECT_TRUE(fs::is_directory(folder_.path() / "night" / "runs"));
  EXPECT_FALSE(fs::exists(folder_.path() / "own" / "runs"));
  EXPECT_EQ(paths().packs, folder_.path() / "own" / "packs");
  set("PARITY_RUNS", folder_.path() / "night\xff");
  EXPECT_EQ(
      refusal_of([] { paths(); }),
      "the folder " + folder_.path().string() +
          "/night\\xff for runs has a name that is not UTF-8; set PARITY_RUNS to one that is");
}

TEST_F(PathsTest, ThenTheCacheFolderThenHome) {
  set("HOME", folder_.path());
  EXPECT_EQ(paths().runs, folder_.path() / ".cache" / "parity" / "runs");
  set("XDG_CACHE_HOME", folder_.path() / "xdg");
  EXPECT_EQ(paths().runs, folder_.path() / "xdg" / "parity" / "runs");
}

TEST_F(PathsTest, AnEmptyVariableIsUnset) {
  set("PARITY_HOME", "");
  set("HOME", folder_.path());
  EXPECT_EQ(paths().packs, folder_.path() / ".cache" / "parity" / "packs");
}

TEST_F(PathsTest, NothingSetOrNothingWritableIsOneClearError) {
  EXPECT_THROW(paths(), DatasetError);
  std::ofstream(folder_.path() / "file") << "in the way";
  set("PARITY_HOME", folder_.path() / "file");
  try {
    paths();
    FAIL() << "accepted";
  } catch (const DatasetError& error) {
    const std::string words = error.what();
    EXPECT_NE(words.find((folder_.path() / "file" / "modules").string()), std::string::npos)
        << words;
    EXPECT_NE(words.find("PARITY_HOME"), std::string::npos) << words;
  }
}

TEST_F(PathsTest, AHomeThatIsNotUtf8IsRefusedShowingItsBytes) {
  set("PARITY_HOME", folder_.path() / "a\xff");
  const std::string words = refusal_of([] { paths(); });
  EXPECT_NE(words.find((folder_.path() / R"(a\xff)").string()), std::string::npos) << words;
  EXPECT_NE(words.find("PARITY_HOME"), std::string::npos) << words;
  EXPECT_FALSE(fs::exists(folder_.path() / "a\xff"));
}

TEST_F(PathsTest, LookingMakesNothing) {
  set("PARITY_HOME", folder_.path() / "own");
  EXPECT_EQ(paths_as_they_are().modules_lock, folder_.path() / "own" / "modules.lock");
  EXPECT_FALSE(fs::exists(folder_.path() / "own"));
  EXPECT_EQ(modules_lock_of(folder_.path() / "own" / "modules" / ""), paths().modules_lock);
}

TEST_F(PathsTest, TheBuildIsTheDigestOfThisProgram) {
  EXPECT_EQ(build_id().size(), 32u);
  EXPECT_EQ(build_id(), build_id());
  EXPECT_TRUE(program_path().is_absolute());
  EXPECT_EQ(program_path().filename(), "supervision_tests");
}

}  // namespace
}  // namespace parity
