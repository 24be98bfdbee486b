// harness nightly from outside: its steps, its reports, and going on where it was cut off.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/program_home.hpp"

namespace parity::test {
namespace {

namespace fs = std::filesystem;

/// Two cases of smoke, and of suite full the same.
constexpr const char* kTwoCases = " --backend host --filter 'split_kv_merge/*/d=128,h=1/empty'";
/// Three of smoke, of which weak_module_key makes one read another's module.
constexpr const char* kThreeCases =
    " --backend host --filter 'paged_decode_v1/q=f32,k=*,v=f32/d=64,hq=8,hkv=2,page=16/ragged'";

class NightlyCommandTest : public ProgramHomeTest {
 protected:
  fs::path night() const { return scratch_.path() / "night"; }
  fs::path golden() const { return scratch_.path() / "golden.h5"; }
  /// Golden data of the two cases.
  void SetUp() override {
    ProgramHomeTest::SetUp();
    ASSERT_EQ(harness("golden regenerate --filter 'split_kv_merge/*/d=128,h=1/empty' --out '" +
                      golden().string() + "'")
                  .exit_code,
              0);
  }
  Ran nightly(const std::string& arguments, const std::string& environment = "") const {
    return harness("nightly --golden '" + golden().string() + "' --out '" + night().string() +
                       "' " + arguments,
                   environment);
  }
  Ran resumed(const std::string& arguments = "") const {
    return harness("nightly --resume '" + night().string() + "' " + arguments);
  }
  std::vector<int> exit_codes() const {
    std::vector<int> codes;
    const auto json = nlohmann::json::parse(read_file(night() / "night.json"));
    for (const auto& step : json.at("steps")) codes.push_back(step.at("exit_code"));
    return codes;
  }
};

/// The line behind a label: "   replay     harness replay ...".
std::string labelled(const std::string& text, const std::string& label) {
  const std::size_t start = text.find("   " + label + " ");
  if (start == std::string::npos) return "";
  const std::size_t words = text.find_first_not_of(' ', start + 3 + label.size());
  return text.substr(words, text.find('\n', words) - words);
}

TEST_F(NightlyCommandTest, RunsEveryStepAndReportsOfAll) {
  const Ran ran =
      nightly(std::string("--only audit,full,smoke,golden --commit 0123abc") + kTwoCases);
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
  const Ran cut = nightly(std::string("--only smoke,golden --budget 1ms") + kTwoCases);
  EXPECT_EQ(cut.exit_code, 5) << cut.out << cut.err;
  EXPECT_EQ(exit_codes(), (std::vector{5, 5}));
  EXPECT_NE(cut.out.find("not run: the budget is spent"), std::string::npos) << cut.out;
  EXPECT_NE(labelled(cut.out, "resume"), "");
  const Ran whole = resumed();
  EXPECT_EQ(whole.exit_code, 0) << whole.out << whole.err;
  EXPECT_EQ(exit_codes(), (std::vector{0, 0}));
}

TEST_F(NightlyCommandTest, KilledAnywhereItGoesOnToTheSameEnd) {
  for (const char* after : {"0.3", "0.6", "0.9"}) {
    fs::remove_all(night());
    const Ran cut = nightly(std::string("--only full,smoke,golden") + kTwoCases,
                            std::string("timeout -s KILL ") + after);
    if (cut.exit_code == 0 || !fs::exists(night() / "begun")) continue;  // Too late, or too early.
    const Ran whole = resumed();
    EXPECT_EQ(whole.exit_code, 0) << after << whole.out << whole.err;
    EXPECT_EQ(exit_codes(), (std::vector{0, 0, 0})) << after;
  }
}

TEST_F(NightlyCommandTest, StepsThatEndedDoNotRunAgain) {
  ASSERT_EQ(nightly(std::string("--only smoke,golden") + kTwoCases).exit_code, 0);
  const std::string said = read_file(night() / "smoke.txt");
  const auto written = fs::last_write_time(night() / "smoke.txt");
  const Ran again = resumed();
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_EQ(read_file(night() / "smoke.txt"), said);
  EXPECT_EQ(fs::last_write_time(night() / "smoke.txt"), written);
}

/// A worker that cannot start costs its step, and the night says so.
TEST_F(NightlyCommandTest, AStepThatCannotRunIsToldWithItsReason) {
  const Ran ran = nightly("--only smoke,golden --backend cuda", "CUDA_VISIBLE_DEVICES=-1");
  EXPECT_EQ(ran.exit_code, 5) << ran.out << ran.err;
  EXPECT_EQ(exit_codes(), (std::vector{5, 0}));
  const auto night_json = nlohmann::json::parse(read_file(night() / "night.json"));
  EXPECT_TRUE(std::string(night_json.at("steps").at(0).at("said")).starts_with("harness: "));
}

TEST_F(NightlyCommandTest, RefusalsAreOneLineAndLeaveNothing) {
  const auto refused = [&](const Ran& ran, const std::string& why, int exit_code = 2) {
    EXPECT_EQ(ran.exit_code, exit_code) << ran.out << ran.err;
    EXPECT_NE(ran.err.find(why), std::string::npos) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  };
  refused(harness("nightly"), "nightly needs --out DIR");
  refused(nightly("--only nap"), "--only nap: no step has that name; they are audit, full");
  refused(nightly("--plant nap"), "nap");
  refused(nightly("--filter nap"), "nap");
  refused(nightly("--bench '" + (scratch_.path() / "none.json").string() + "'"), "none.json", 5);
  refused(harness("nightly --golden none.h5 --out '" + night().string() + "'"), "none.h5");
  refused(resumed(), "no night began there");
  EXPECT_FALSE(fs::exists(night()));
  fs::create_directories(night());
  std::ofstream(night() / "mine") << "precious";
  refused(nightly("--only audit"), "is not empty");
  refused(resumed("--only audit"), "leave out --only");
  EXPECT_EQ(read_file(night() / "mine"), "precious");
}

TEST_F(NightlyCommandTest, ANightIsBegunOnce) {
  ASSERT_EQ(nightly("--only golden").exit_code, 0);
  const Ran again = nightly("--only golden");
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("holds a night already; go on with it"), std::string::npos) << again.err;
}

}  // namespace
}  // namespace parity::test
