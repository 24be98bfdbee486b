// harness nightly from outside: its steps, its reports, and going on where it was cut off.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/nightly_fixture.hpp"

namespace parity::test {
namespace {

namespace fs = std::filesystem;

/// Three of smoke, of which weak_module_key makes one read another's module.
constexpr const char* kThreeCases =
    " --backend host --filter 'paged_decode_v1/q=f32,k=*,v=f32/d=64,hq=8,hkv=2,page=16/ragged'";
/// In suite full alone.
constexpr const char* kFullAlone = " --filter 'split_kv_merge/v=bf16,out=bf16/d=104,h=3/empty'";

using NightlyCommandTest = NightlyTest;

/// The line behind a label: "   replay     harness replay ...".
std::string labelled(const std::string& text, const std::string& label) {
  const std::size_t start = text.find("   " + label + " ");
  if (start == std::string::npos) return "";
  const std::size_t words = text.find_first_not_of(' ', start + 3 + label.size());
  return text.substr(words, text.find('\n', words) - words);
}

TEST_F(NightlyCommandTest, RunsEveryStepAndReportsOfAll) {
  const Ran ran = nightly("--only audit,full,smoke,golden --commit 0123abc" + golden() + kTwoCases);
  ASSERT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_EQ(exit_codes(), (std::vector{0, 0, 0, 0}));
  EXPECT_NE(ran.out.find("4 of 4 steps passed"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("exit 0: PASSED: 2 of 2 cases passed"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("exit 0: 2 of 2 cases verified"), std::string::npos) << ran.out;
  for (const char* file : {"index.html", "junit.xml", "summary.md"}) {
    const std::string text = read_file(night() / file);
    EXPECT_NE(text.find("golden verify"), std::string::npos) << file;
    EXPECT_NE(text.find("0123abc"), std::string::npos) << file;
  }
  // What only a run that was cut off would need.
  EXPECT_FALSE(fs::exists(night() / "runs" / "smoke"));
}

/// From nothing but what the night printed, the leaking pair is named and run again.
TEST_F(NightlyCommandTest, APlantedLeakIsNamedAndItsCommandRunsAgain) {
  const Ran ran = nightly(std::string("--only smoke --plant weak_module_key") + kThreeCases);
  ASSERT_EQ(ran.exit_code, 3) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("0 of 1 steps passed"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("A then B: B differs"), std::string::npos) << ran.out;
  const std::string replay = labelled(ran.out, "replay");
  ASSERT_TRUE(replay.starts_with("'" PARITY_HARNESS "' replay ") ||
              replay.starts_with(PARITY_HARNESS " replay "))
      << ran.out;
  for (const char* file : {"index.html", "summary.md", "junit.xml"})
    EXPECT_NE(read_file(night() / file).find("--repeat 20 --plant weak_module_key"),
              std::string::npos)
        << file;
  const Ran again = harness(replay.substr(replay.find(" replay ") + 1));
  EXPECT_EQ(again.exit_code, 3) << again.out << again.err;
  EXPECT_NE(again.out.find("20 of 20 after the others, 0 of 20 alone"), std::string::npos)
      << again.out;
}

TEST_F(NightlyCommandTest, WhatTheBudgetCutOffIsNoPassAndGoesOn) {
  const Ran cut = cut_off("--only smoke,golden" + golden() + kTwoCases);
  EXPECT_EQ(cut.exit_code, 5) << cut.out << cut.err;
  EXPECT_EQ(exit_codes(), (std::vector{5, 5}));
  EXPECT_NE(cut.out.find("not run: the budget is spent"), std::string::npos) << cut.out;
  EXPECT_NE(labelled(cut.out, "resume"), "");
  const Ran whole = resumed();
  EXPECT_EQ(whole.exit_code, 0) << whole.out << whole.err;
  EXPECT_EQ(exit_codes(), (std::vector{0, 0}));
}

/// A worker that cannot start costs its step, and the night says so.
TEST_F(NightlyCommandTest, AStepThatCannotRunIsToldWithItsReason) {
  const Ran ran =
      nightly("--only smoke,golden --backend cuda" + golden(), "CUDA_VISIBLE_DEVICES=-1");
  EXPECT_EQ(ran.exit_code, 5) << ran.out << ran.err;
  EXPECT_EQ(exit_codes(), (std::vector{5, 0}));
  const auto night_json = nlohmann::json::parse(read_file(night() / "night.json"));
  EXPECT_TRUE(std::string(night_json.at("steps").at(0).at("said")).starts_with("harness: "));
}

TEST_F(NightlyCommandTest, RefusalsAreOneLineAndLeaveNothing) {
  const std::string none = " --golden none.h5";
  refused(harness("nightly"), "nightly needs --out DIR");
  refused(nightly("--only nap"), "--only nap: no step has that name; they are audit, full");
  refused(nightly("--only audit --plant nap"), "nap");
  refused(nightly("--only smoke --filter nap"), "nap");
  refused(nightly("--only golden" + none), "--golden none.h5: is not there");
  refused(nightly(none), "--golden none.h5: is not there");
  refused(resumed(), "no night began there");
  EXPECT_FALSE(fs::exists(night()));
  fs::create_directories(night());
  std::ofstream(night() / "mine") << "precious";
  refused(nightly("--only audit"), "is not empty");
  refused(resumed("--only audit"), "leave out --only");
  EXPECT_EQ(read_file(night() / "mine"), "precious");
  EXPECT_FALSE(fs::exists(night() / "lock"));
}

TEST_F(NightlyCommandTest, NothingIsAskedForThatNoChosenStepNeeds) {
  const std::string rest = " --golden none.h5";
  EXPECT_EQ(cut_off(std::string("--only full") + kFullAlone + rest).exit_code, 5);
  EXPECT_NE(steps().at(0).at("said"), "");
  fs::remove_all(night());
  refused(nightly(std::string("--only full,smoke") + kFullAlone + rest), "none of 64");
}

}  // namespace
}  // namespace parity::test
