// A night gone on with: where it was killed, where a step was, and with what beside --resume.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/nightly_fixture.hpp"

namespace parity::test {
namespace {

namespace fs = std::filesystem;

/// Eight of smoke, in many orders one after the other.
constexpr const char* kEightCases =
    " --backend host --jobs 1 --filter 'paged_decode_v1/*/d=64,hq=8,hkv=2,page=16/ragged'";

class NightlyResumeTest : public NightlyTest {
 protected:
  fs::path out() const { return scratch_.path() / "out"; }
  fs::path runs_of_smoke() const { return night() / "runs" / "smoke"; }
  /// The journal of the permuted run; empty: none yet.
  fs::path journal() const {
    std::error_code ignored;
    for (const auto& run : fs::directory_iterator(runs_of_smoke(), ignored))
      if (fs::exists(run.path() / "journal", ignored)) return run.path() / "journal";
    return {};
  }
  std::size_t journal_lines() const {
    const std::string text = read_file(journal());
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  /// A night of the step smoke alone, whose run was cut off: what `harness ARGUMENTS` left in place
  /// of it, its journal shorter by its last lines.
  void begin_with(const std::string& arguments, std::size_t bytes_off) const {
    ASSERT_EQ(cut_off(std::string("--only smoke") + kTwoCases).exit_code, 5);
    fs::remove_all(runs_of_smoke());  // Of a step that began in time.
    harness(arguments, "PARITY_RUNS=" + quoted(runs_of_smoke()));
    ASSERT_FALSE(journal().empty());
    fs::resize_file(journal(), fs::file_size(journal()) - bytes_off);
  }
  void begin_cut_off() const { begin_with(std::string("run --permute-order") + kTwoCases, 400); }
};

TEST_F(NightlyResumeTest, KilledAnywhereItGoesOnToTheSameEnd) {
  std::size_t went_on = 0;
  for (const std::size_t lines : {1, 2, 4, 8}) {
    fs::remove_all(night());
    Background process(home(), words(std::string("--only smoke") + kEightCases), out());
    ASSERT_TRUE(wait_until([&] { return journal_lines() >= lines; })) << process.out();
    EXPECT_EQ(process.end(SIGKILL), 128 + SIGKILL);
    ASSERT_TRUE(wait_until([&] { return !writer_of(night() / "smoke.txt"); }));
    EXPECT_EQ(exit_codes(), (std::vector{5}));
    const Ran whole = resumed();
    EXPECT_EQ(whole.exit_code, 0) << lines << whole.out << whole.err;
    EXPECT_EQ(exit_codes(), (std::vector{0})) << lines;
    if (whole.out.find("   goes on: ") != std::string::npos) ++went_on;
  }
  EXPECT_EQ(went_on, 4u);
}

/// As by the kernel, for want of memory.
TEST_F(NightlyResumeTest, AStepThatIsKilledIsGoneOnWith) {
  begin_cut_off();
  const std::size_t lines = journal_lines();
  Descriptor held = runs_held_up();
  Background process(home(), resumed_words(), out());
  ASSERT_TRUE(wait_until([&] { return writer_of(night() / "smoke.txt").has_value(); }));
  kill(*writer_of(night() / "smoke.txt"), SIGKILL);
  EXPECT_EQ(process.end(), 5) << process.out();
  held.reset();
  EXPECT_EQ(exit_codes(), (std::vector{5}));
  EXPECT_EQ(steps().at(0).at("said"), "signal 9 (Killed)");
  EXPECT_NE(process.out().find("   resume "), std::string::npos) << process.out();
  EXPECT_EQ(journal_lines(), lines);
  const Ran whole = resumed();
  EXPECT_EQ(whole.exit_code, 0) << whole.out << whole.err;
  EXPECT_NE(whole.out.find("   goes on: "), std::string::npos) << whole.out;
  EXPECT_FALSE(fs::exists(runs_of_smoke()));
}

TEST_F(NightlyResumeTest, JobsAreThoseOfTheResume) {
  begin_cut_off();
  const Ran ran = resumed("--jobs 1");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  const std::size_t at = ran.out.find("   goes on: ");
  ASSERT_NE(at, std::string::npos) << ran.out;
  const std::string line = ran.out.substr(at, ran.out.find('\n', at) - at);
  EXPECT_NE(line.find(" --resume " + runs_of_smoke().string()), std::string::npos) << line;
  EXPECT_NE(line.find(" --jobs 1 --json "), std::string::npos) << line;
}

/// Its report, given again, would be the same error for ever.
TEST_F(NightlyResumeTest, ARunThatEndedWithAWorkerErrorStartsAnew) {
  // One worker ends badly, once outputs lie there.
  const std::string bad_end = "ls " + (runs_of_smoke() / "*" / "blobs" / "*").string() +
                              " >/dev/null 2>&1 && mkdir " + (scratch_.path() / "once").string() +
                              " 2>/dev/null && exit 3; exit 0";
  begin_with("run --permute-order --worker \"sh -c '" PARITY_HARNESS " worker; " + bad_end + "'\"" +
                 kTwoCases,
             0);
  EXPECT_EQ(resumed().exit_code, 5) << "its report again";
  EXPECT_NE(std::string(steps().at(0).at("said")).find("WORKER ERROR"), std::string::npos);
  EXPECT_FALSE(fs::exists(runs_of_smoke()));
  const Ran anew = resumed();
  EXPECT_EQ(anew.exit_code, 0) << anew.out << anew.err;
}

/// Killed while one step runs again, the night keeps what had ended behind it.
TEST_F(NightlyResumeTest, WhatHadEndedStaysWhileAnotherStepRunsAgain) {
  ASSERT_EQ(nightly("--only full,smoke,golden" + golden() + kTwoCases).exit_code, 0);
  fs::remove(night() / "full.json");
  fs::remove(night() / "smoke.json");
  {
    const Descriptor held = runs_held_up();
    Background process(home(), resumed_words(), out());
    ASSERT_TRUE(wait_until([&] { return writer_of(night() / "full.txt").has_value(); }));
    process.end(SIGKILL);
  }
  EXPECT_EQ(exit_codes(), (std::vector{5, 5, 0}));
  EXPECT_EQ(steps().at(1).at("said"), "not run: the night was cut off");
}

}  // namespace
}  // namespace parity::test
