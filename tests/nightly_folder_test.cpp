// The folder of a night: one night, one process, one build; what is damaged in it runs again.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/journal_lines.hpp"
#include "tests/nightly_fixture.hpp"

namespace parity::test {
namespace {

namespace fs = std::filesystem;

class NightlyFolderTest : public NightlyTest {
 protected:
  fs::path begun() const { return night() / "begun"; }
  JournalHead head() const { return read_journal_state(begun())->head; }
  void begin_as(const JournalHead& head) const { write(begun(), journal_line(head)); }
  /// Two steps that have passed.
  void pass() const {
    const Ran ran = nightly("--only smoke,golden" + golden() + kTwoCases);
    ASSERT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  }
  /// Resumed, the night passes, and these of its steps have run again.
  void passes_again(bool smoke, bool golden) const {
    write(night() / "smoke.txt", "as it was\n");
    write(night() / "golden.txt", "as it was\n");
    const Ran ran = resumed();
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_EQ(exit_codes(), (std::vector{0, 0}));
    EXPECT_EQ(read_file(night() / "smoke.txt") != "as it was\n", smoke) << ran.out;
    EXPECT_EQ(read_file(night() / "golden.txt") != "as it was\n", golden) << ran.out;
    EXPECT_EQ(read_file(night() / "index.html").find("no run is here"), std::string::npos);
    EXPECT_TRUE(fs::exists(night() / "smoke.json"));
  }
};

TEST_F(NightlyFolderTest, StepsThatEndedDoNotRunAgain) {
  pass();
  passes_again(false, false);
}

TEST_F(NightlyFolderTest, AStepWhoseReportIsDamagedRunsAgain) {
  pass();
  const std::string whole = read_file(night() / "smoke.json");
  const std::string night_json = read_file(night() / "night.json");
  for (const std::string& damaged : {whole.substr(0, 200), std::string(), night_json}) {
    write(night() / "smoke.json", damaged);
    passes_again(true, false);
  }
  fs::remove(night() / "smoke.json");
  passes_again(true, false);
}

/// It would be a pass that no report tells.
TEST_F(NightlyFolderTest, AReportOfAnotherEndIsDamaged) {
  pass();
  auto told = nlohmann::json::parse(read_file(night() / "smoke.json"));
  told["exit_code"] = 3;
  write(night() / "smoke.json", told.dump());
  passes_again(true, false);
}

TEST_F(NightlyFolderTest, OfADamagedRecordNothingHadEnded) {
  pass();
  const std::string whole = read_file(night() / "night.json");
  for (const std::string& damaged :
       {whole.substr(0, whole.size() / 2), read_file(night() / "smoke.json")}) {
    write(night() / "night.json", damaged);
    passes_again(true, true);
  }
  fs::remove(night() / "night.json");
  passes_again(true, true);
}

TEST_F(NightlyFolderTest, ASelftestThatEndedIsKept) {
  ASSERT_EQ(cut_off("--only selftest --backend host").exit_code, 5);
  ASSERT_EQ(harness("selftest --backend host --plant weak_module_key_gumbel --json " +
                    quoted(night() / "selftest.json"))
                .exit_code,
            0);
  auto record = nlohmann::json::parse(read_file(night() / "night.json"));
  record["steps"][0]["exit_code"] = 0;
  write(night() / "night.json", record.dump());
  write(night() / "selftest.txt", "as it was\n");
  const Ran ran = resumed();
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_EQ(read_file(night() / "selftest.txt"), "as it was\n");
  EXPECT_NE(read_file(night() / "index.html").find("weak_module_key_gumbel"), std::string::npos);
}

TEST_F(NightlyFolderTest, ANightIsBegunOnce) {
  ASSERT_EQ(nightly("--only golden" + golden()).exit_code, 0);
  refused(nightly("--only golden" + golden()), "holds a night already; go on with it");
}

TEST_F(NightlyFolderTest, ABeginningThatWasCutOffIsNoNight) {
  write(night() / "lock", "");
  write(night() / "begun.tmp.1.0", "half");
  refused(resumed(), "no night began there");
  EXPECT_EQ(nightly("--only golden" + golden()).exit_code, 0);
}

TEST_F(NightlyFolderTest, ANightIsRunByOneProcess) {
  pass();
  const auto held = [&] {
    Descriptor lock(open((night() / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    EXPECT_EQ(try_lock(lock, Lock::exclusive), Locked::by_us);
    return lock;
  };
  {
    const Descriptor lock = held();
    refused(resumed(), "another process runs this night");
  }
  fs::remove_all(night());
  fs::create_directories(night());
  const Descriptor lock = held();
  refused(nightly("--only golden" + golden()), "another process runs this night");
}

TEST_F(NightlyFolderTest, ABeginningThatIsNotThisBuildsIsRefused) {
  ASSERT_EQ(cut_off(std::string("--only smoke") + kTwoCases).exit_code, 5);
  const JournalHead good = head();
  JournalHead other = good;
  other.build = "0123";
  begin_as(other);
  refused(resumed(), "another build of harness began it");
  other = good;
  other.arguments = {"harness", "run"};
  begin_as(other);
  refused(resumed(), "no night began there");
  other = good;
  other.folder = "/no/such/folder";
  begin_as(other);
  refused(resumed(), "/no/such/folder");
  write(begun(), "nonsense\n");
  refused(resumed(), "is damaged");
  begin_as(good);
  EXPECT_EQ(resumed().exit_code, 0);
}

/// Where it was typed, another build may lie by now.
TEST_F(NightlyFolderTest, StepsAreOfTheProgramThatGoesOn) {
  const fs::path other = scratch_.path() / "other";
  write(other, "#!/bin/sh\nexit 7\n");
  fs::permissions(other, fs::perms::owner_all);
  ASSERT_EQ(cut_off(std::string("--only smoke") + kTwoCases).exit_code, 5);
  JournalHead moved = head();
  moved.arguments[0] = other.string();
  begin_as(moved);
  const Ran ran = resumed();
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.out.find(other.string()), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace parity::test
