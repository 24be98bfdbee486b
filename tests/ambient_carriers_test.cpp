// State of the process that nobody traces: read, put back and made again.
#include <gtest/gtest.h>

#include <cfenv>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "datasets/errors.hpp"
#include "device/environment.hpp"
#include "device/floating_point_environment.hpp"
#include "device/working_directory.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;
using Cells = std::vector<CellState>;

/// "" where there is none.
std::string content(const Carrier& carrier, const std::string& cell) {
  for (const CellState& one : carrier.snapshot())
    if (one.cell == cell) return one.content;
  return "";
}

class EnvironmentTest : public testing::Test {
 protected:
  EnvironmentTest() {
    unsetenv("PARITY_TEST_NEW");
    setenv("PARITY_TEST_OLD", "a=b", 1);
  }
  ~EnvironmentTest() override {
    unsetenv("PARITY_TEST_NEW");
    unsetenv("PARITY_TEST_OLD");
  }
};

TEST_F(EnvironmentTest, RestoringUnsetsResetsAndBringsBack) {
  Environment environment;
  const Cells fresh = environment.snapshot();
  EXPECT_EQ(content(environment, "PARITY_TEST_OLD"), "a=b");
  setenv("PARITY_TEST_NEW", "", 1);
  setenv("PARITY_TEST_OLD", "c", 1);
  EXPECT_EQ(environment.snapshot().size(), fresh.size() + 1) << "an empty value is a value";
  environment.restore();
  EXPECT_EQ(environment.snapshot(), fresh);
  EXPECT_EQ(std::getenv("PARITY_TEST_NEW"), nullptr);
  unsetenv("PARITY_TEST_OLD");
  environment.restore();
  EXPECT_STREQ(std::getenv("PARITY_TEST_OLD"), "a=b");
}

TEST_F(EnvironmentTest, SettingMakesExactlyTheSnapshot) {
  Environment environment;
  setenv("PARITY_TEST_NEW", "left", 1);
  unsetenv("PARITY_TEST_OLD");
  const Cells left = environment.snapshot();
  environment.restore();
  environment.set(left);
  EXPECT_EQ(environment.snapshot(), left);
  EXPECT_STREQ(std::getenv("PARITY_TEST_NEW"), "left");
  EXPECT_EQ(std::getenv("PARITY_TEST_OLD"), nullptr);
}

TEST_F(EnvironmentTest, WhatIsNoNameIsRefusedBeforeAnythingChanges) {
  Environment environment;
  const Cells before = environment.snapshot();
  EXPECT_THROW(environment.set({{"PARITY_TEST_NEW", "1"}, {"A=B", "1"}}), UsageError);
  EXPECT_THROW(environment.set({{"", "1"}}), UsageError);
  EXPECT_EQ(environment.snapshot(), before);
}

TEST(WorkingDirectoryTest, IsPutBackAndMadeAgain) {
  const fs::path home = fs::current_path();
  const TemporaryFolder folder;
  const fs::path elsewhere = fs::canonical(folder.path());
  WorkingDirectory directory;
  fs::current_path(elsewhere);
  const Cells left = directory.snapshot();
  EXPECT_EQ(left, (Cells{{"path", elsewhere.string()}}));
  directory.restore();
  EXPECT_EQ(fs::current_path(), home);
  directory.set(left);
  EXPECT_EQ(fs::current_path(), elsewhere);
  directory.restore();
}

TEST(WorkingDirectoryTest, AFolderThatIsGoneIsSaidAndCannotBeEntered) {
  WorkingDirectory directory;
  {
    const TemporaryFolder folder;
    fs::current_path(folder.path());
  }
  const std::string there = content(directory, "path");
  EXPECT_TRUE(there.find("unreachable") != there.npos) << there;
  EXPECT_THROW(directory.set({{"path", "/no/such/folder"}}), UsageError);
  EXPECT_THROW(directory.set({}), UsageError);
  directory.restore();
  EXPECT_TRUE(fs::exists(content(directory, "path")));
}

TEST(WorkingDirectoryTest, AStartFolderThatIsGoneIsPutBackAndIsNotOneOfThatName) {
  const fs::path home = fs::current_path();
  const TemporaryFolder elsewhere;
  fs::create_directory(elsewhere.path() / "unreachable");
  {
    const TemporaryFolder start;
    fs::current_path(start.path());
  }
  WorkingDirectory directory;
  const Cells fresh = directory.snapshot();
  EXPECT_EQ(fresh, (Cells{{"path", "unreachable"}}));
  fs::current_path(elsewhere.path());
  EXPECT_THROW(directory.set(fresh), UsageError) << "the folder beside it is another";
  EXPECT_EQ(fs::current_path(), fs::canonical(elsewhere.path()));
  directory.restore();
  EXPECT_EQ(directory.snapshot(), fresh);
  fs::current_path(home);
}

class FloatingPointEnvironmentTest : public testing::Test {
 protected:
  ~FloatingPointEnvironmentTest() override { std::fesetenv(FE_DFL_ENV); }
  FloatingPointEnvironment mode_;
};

TEST_F(FloatingPointEnvironmentTest, TheRoundingModeIsPutBackAndMadeAgain) {
  EXPECT_EQ(content(mode_, "rounding_mode"), "nearest");
  for (const auto& [mode, name] : {std::pair(FE_UPWARD, "up"), std::pair(FE_DOWNWARD, "down"),
                                   std::pair(FE_TOWARDZERO, "zero")}) {
    std::fesetround(mode);
    const Cells left = mode_.snapshot();
    EXPECT_EQ(content(mode_, "rounding_mode"), name);
    mode_.restore();
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    mode_.set(left);
    EXPECT_EQ(std::fegetround(), mode);
    EXPECT_EQ(mode_.snapshot(), left);
  }
}

TEST_F(FloatingPointEnvironmentTest, StickyFlagsAreNeitherReportedNorCleared) {
  std::feclearexcept(FE_ALL_EXCEPT);
  const Cells before = mode_.snapshot();
  std::feraiseexcept(FE_INEXACT | FE_OVERFLOW);
  EXPECT_EQ(mode_.snapshot(), before);
  mode_.restore();
  EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
}

TEST_F(FloatingPointEnvironmentTest, AThreadInheritsItAndTakesItsChangesAlong) {
  std::fesetround(FE_UPWARD);
  std::string inherited;
  std::thread([&] {
    inherited = content(mode_, "rounding_mode");
    std::fesetround(FE_DOWNWARD);
  }).join();
  EXPECT_EQ(inherited, "up");
  EXPECT_EQ(content(mode_, "rounding_mode"), "up");
}

#if defined(__x86_64__)

TEST_F(FloatingPointEnvironmentTest, FlushedDenormalsAreSeenPutBackAndMadeAgain) {
  const std::string kept = content(mode_, "mxcsr");
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
  const Cells left = mode_.snapshot();
  EXPECT_EQ(content(mode_, "mxcsr"), "0x9fc0 ftz daz");
  EXPECT_EQ(content(mode_, "rounding_mode"), "nearest");
  mode_.restore();
  EXPECT_EQ(content(mode_, "mxcsr"), kept);
  mode_.set(left);
  EXPECT_EQ(__builtin_ia32_stmxcsr() & 0x8040u, 0x8040u);
}

TEST_F(FloatingPointEnvironmentTest, TheX87PrecisionIsSeenAndPutBack) {
  const Cells fresh = mode_.snapshot();
  const unsigned short single = 0x007f;
  __asm__ volatile("fldcw %0" : : "m"(single));
  EXPECT_EQ(content(mode_, "x87_control_word"), "0x7f");
  mode_.restore();
  EXPECT_EQ(mode_.snapshot(), fresh);
}

TEST_F(FloatingPointEnvironmentTest, WhatNoRegisterCanHoldIsRefused) {
  const Cells fresh = mode_.snapshot();
  const auto with = [&](std::size_t cell, const std::string& held) {
    Cells cells = fresh;
    cells.at(cell).content = held;
    return cells;
  };
  for (const Cells& wrong :
       {Cells{}, with(0, "0x101f80"), with(0, "0x1f8"), with(0, "1f80"), with(0, "0x1f80 ftz"),
        with(1, "sideways"), with(2, "0x1037f"), with(2, "")})
    EXPECT_THROW(mode_.set(wrong), UsageError) << testing::PrintToString(wrong.size());
  EXPECT_EQ(mode_.snapshot(), fresh);
}

#endif

}  // namespace
}  // namespace parity
