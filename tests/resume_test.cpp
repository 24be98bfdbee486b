// Runs that are killed, interrupted or out of time, gone on with: the built program from outside.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "datasets/fill.hpp"
#include "harness/file_lock.hpp"
#include "harness/journal.hpp"
#include "tests/program_home.hpp"

namespace parity::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Eight dtypes of one geometry, which all meet in one cell.
constexpr const char* kPlanted =
    "--permute-order --plant weak_module_key --backend host "
    "--filter '*/d=64,hq=8,hkv=2,page=16/ragged'";
/// Descriptors that processes other than this one hold below `folder` and whose names hold `word`:
/// a worker, and all that it starts, has its log.
std::size_t descriptors_below(const fs::path& folder, const std::string& word) {
  std::size_t count = 0;
  std::error_code ignored;
  for (const auto& process : fs::directory_iterator("/proc", ignored)) {
    if (process.path().filename() == std::to_string(getpid())) continue;
    for (const auto& descriptor : fs::directory_iterator(process.path() / "fd", ignored)) {
      const std::string file = fs::read_symlink(descriptor, ignored).string();
      if (file.starts_with(folder.string()) && file.find(word) != std::string::npos) ++count;
    }
  }
  return count;
}

class ResumeTest : public ProgramHomeTest {
 protected:
  static void expect_refused(const Ran& ran, const std::string& mention) {
    EXPECT_EQ(ran.exit_code, 2) << ran.out << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_NE(ran.err.find(mention), std::string::npos) << ran.err;
  }
  /// A journal in place of the run's own, by a head that differs.
  void begin_again(const JournalHead& head) const {
    Journal(run() / "journal", head, [](const std::string& line) { FAIL() << line; });
  }
  JournalHead head() const { return read_journal_state(run() / "journal")->head; }

  /// Kills `harness ARGUMENTS` after `delay`; its exit code where it ended before.
  std::optional<int> killed_after(const std::string& arguments, milliseconds delay) {
    const std::string command = "exec env PARITY_HOME='" + home().string() +
                                "' '" PARITY_HARNESS "' " + arguments +
                                " >/dev/null 2>&1 </dev/null";
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    const Clock::time_point end = Clock::now() + delay;
    int status = 0;
    while (Clock::now() < end) {
      if (waitpid(child, &status, WNOHANG) == child) return WEXITSTATUS(status);
      std::this_thread::sleep_for(milliseconds(2));
    }
    workers_seen_ += descriptors_below(home(), "worker-");
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return std::nullopt;
  }
  std::size_t workers_seen_ = 0;
};

/// PARITY_TEST_KILLS: how often; 5 unless set.
std::size_t kills() {
  const char* const set = std::getenv("PARITY_TEST_KILLS");
  return set == nullptr ? 5 : std::stoul(set);
}

TEST_F(ResumeTest, KilledAnywhereItEndsAsIfItHadNotBeen) {
  ASSERT_EQ(harness(kPlanted).exit_code, 3) << "compiles, where it must";
  const Clock::time_point start = Clock::now();
  const Ran unbroken = harness(with_report(kPlanted));
  const auto duration = std::chrono::duration_cast<milliseconds>(Clock::now() - start).count();
  ASSERT_EQ(unbroken.exit_code, 3) << unbroken.err;
  const std::string want = read_file(report());
  std::size_t killed = 0;
  bool begun = false;
  for (std::uint64_t attempt = 0; killed < kills(); ++attempt) {
    ASSERT_LT(attempt, 100u) << "runs end before they are killed";
    // Short of a whole run, so that one is killed several times before it ends.
    const auto delay =
        static_cast<std::int64_t>(random_word(2026, 1, attempt)) % (duration / 2 + 1);
    const std::optional<int> code =
        killed_after(begun ? "--resume last" : with_report(kPlanted), milliseconds(delay));
    for (int look = 0; look < 200 && descriptors_below(home(), "") > 0; ++look)
      std::this_thread::sleep_for(milliseconds(25));
    EXPECT_EQ(descriptors_below(home(), ""), 0u) << "left behind after kill " << killed;
    if (!code) {
      ++killed;
      // That of the run before stays until this one begins its own.
      const auto state = read_journal_state(run() / "journal");
      begun = state && !state->ended;
      continue;
    }
    EXPECT_EQ(*code, 3);
    EXPECT_EQ(read_file(report()), want);
    fs::remove(report());
    begun = false;
  }
  EXPECT_GT(workers_seen_, 0u) << "no kill met a worker";
  const Ran rest = harness(begun ? "--resume last" : with_report(kPlanted));
  EXPECT_EQ(rest.exit_code, 3) << rest.err;
  EXPECT_EQ(read_file(report()), want);
  EXPECT_EQ(rest.out, unbroken.out);
}

TEST_F(ResumeTest, AnInterruptedRunSaysHowItGoesOn) {
  // The first worker that starts after the journal's first result interrupts its parent.
  const fs::path worker = scratch_.path() / "worker";
  const fs::path interrupted = scratch_.path() / "interrupted";
  std::ofstream(worker) << "[ $(cat '" << runs().string()
                        << "'/*/journal | wc -l) -ge 2 ] && mkdir '" << interrupted.string()
                        << "' && kill -INT $PPID\n"
                        << "exec '" PARITY_HARNESS "' worker\n";
  const std::string arguments_of_all =
      with_report(kFourCases) + " --worker 'sh " + worker.string() + "'";
  fs::create_directory(interrupted);  // No worker is the first.
  const Ran unbroken = harness(arguments_of_all);
  ASSERT_EQ(unbroken.exit_code, 0) << unbroken.out << unbroken.err;
  const std::string want = read_file(report());
  fs::remove_all(runs());
  fs::remove(interrupted);
  const Ran cut = harness(arguments_of_all + " --jobs 1");
  const std::size_t at = cut.out.find("   resume          ");
  ASSERT_NE(at, std::string::npos) << cut.out << cut.err;
  const std::string command = cut.out.substr(at + 19, cut.out.find('\n', at) - at - 19);
  EXPECT_EQ(cut.exit_code, 5) << "nothing was found";
  const json told = json::parse(read_file(report()));
  EXPECT_EQ(told["resume"], command);
  EXPECT_EQ(told["interrupted"], true);
  const std::string arguments = command.substr(command.find(" --resume"));
  EXPECT_EQ(harness(arguments).exit_code, 0);
  EXPECT_EQ(read_file(report()), want);
  EXPECT_EQ(want.find("resume"), std::string::npos);
}

TEST_F(ResumeTest, AReplayGoesOnToo) {
  const Ran list = harness("list --filter '*/empty'");
  const std::string id = list.out.substr(0, list.out.find('\n'));
  const std::string arguments = "replay " + id + " --repeat 3 --backend host";
  const Ran first = harness(arguments);
  EXPECT_EQ(first.exit_code, 0) << first.out << first.err;
  fs::resize_file(run() / "journal", fs::file_size(run() / "journal") - 400);
  const Ran again = harness("--resume last");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.err, "");
  EXPECT_EQ(again.out, first.out);
  expect_refused(harness("--resume last --budget 1m"), "--budget");
}

TEST_F(ResumeTest, AnEndedRunGivesItsReportAgain) {
  const Ran first = harness(with_report(kFourCases));
  const std::string want = read_file(report());
  fs::remove(report());
  const fs::path other = scratch_.path() / "other.json";
  const Ran again = harness("--resume " + run().filename().string() + " --json '" + other.string() +
                            "' --jobs 1");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("had ended"), std::string::npos) << again.err;
  EXPECT_EQ(again.out, first.out);
  EXPECT_EQ(read_file(other), want);
  EXPECT_FALSE(fs::exists(report()));
}

TEST_F(ResumeTest, AnEndedRunWithoutABudgetIsNotGivenOne) {
  const Ran first = harness(kFourCases);
  const std::string journal = read_file(run() / "journal");
  const Ran again = harness("--resume last --budget 2s");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, first.out);
  EXPECT_NE(again.err.find("--budget adds none"), std::string::npos) << again.err;
  EXPECT_EQ(read_file(run() / "journal"), journal);
}

TEST_F(ResumeTest, ALostLockIsMadeAnew) {
  ASSERT_EQ(harness(kFourCases).exit_code, 0);
  fs::remove(run() / "lock");
  EXPECT_EQ(harness("--resume last").exit_code, 0);
  fs::remove(run() / "lock");
  fs::create_directory(run() / "lock");
  expect_refused(harness("--resume last"), "remove the folder");
}

TEST_F(ResumeTest, WhatCannotBeGoneOnWithIsRefusedInOneLine) {
  expect_refused(harness("--resume last"), "no run under");
  expect_refused(harness("--resume nonsense"), "nonsense");
  expect_refused(harness("--resume last --seed 3"), "--seed");
  expect_refused(harness("run --resume last --permute-order"), "--permute-order");
  ASSERT_EQ(harness(kFourCases).exit_code, 0);
  const JournalHead good = head();
  {
    const Descriptor lock(open((run() / "lock").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(try_lock(lock, Lock::exclusive), Locked::by_us);
    expect_refused(harness("--resume '" + run().string() + "/'"), "another process");
  }
  JournalHead other = good;
  other.build = "0123";
  begin_again(other);
  expect_refused(harness("--resume last"), "another build");
  other = good;
  other.device_name = "another device";
  begin_again(other);
  expect_refused(harness("--resume last"), "another device");
  other = good;
  other.folder = "/no/such/folder";
  begin_again(other);
  expect_refused(harness("--resume last"), "/no/such/folder");
  std::ofstream(run() / "journal") << "nonsense\n";
  expect_refused(harness("--resume last"), "damaged");
}

TEST_F(ResumeTest, ARunOutOfTimeGoesOnToFullCoverage) {
  const Ran cut = harness(with_report(kFourCases) + " --budget 1ms");
  EXPECT_NE(cut.out.find("   resume "), std::string::npos) << cut.out;
  json told = json::parse(read_file(report()));
  EXPECT_LT(told["coverage"]["adjacent_pairs"]["exercised"], 12);
  ASSERT_TRUE(told.contains("resume")) << told;
  for (int i = 0; i < 30 && told.contains("resume"); ++i) {
    harness("--resume last --budget 1s");
    told = json::parse(read_file(report()));
  }
  EXPECT_EQ(told["exit_code"], 0) << told;
  const json pairs = told["coverage"]["adjacent_pairs"];
  EXPECT_EQ(pairs["exercised"], pairs["possible"]);
  EXPECT_GT(told["coverage"]["orders"], told["cases"].size() + 1)
      << "random orders fill the budget";

  const std::string want = read_file(report());
  const std::string journal = read_file(run() / "journal");
  const auto expect_report_again = [&] {
    fs::remove(report());
    const Ran again = harness("--resume last");
    EXPECT_NE(again.err.find("had ended; this is its report again"), std::string::npos)
        << again.err;
    EXPECT_EQ(read_file(report()), want);
  };
  expect_report_again();
  EXPECT_EQ(read_file(run() / "journal"), journal) << "nothing ran";
  for (const auto& blob : fs::directory_iterator(run() / "blobs")) fs::resize_file(blob, 0);
  expect_report_again();
  const Ran longer = harness("--resume last --budget 1s");
  EXPECT_NE(longer.err.find("it goes on with another"), std::string::npos) << longer.err;
  EXPECT_GT(json::parse(read_file(report()))["coverage"]["orders"], told["coverage"]["orders"]);
}

TEST_F(ResumeTest, ClearKeepsWhatCanBeGoneOnWith) {
  fs::remove(home() / "modules");  // Those of all tests are not to be cleared.
  ASSERT_EQ(harness(kFourCases).exit_code, 0);
  const fs::path ended = run();
  const Ran cut = harness(std::string(kFourCases) + " --seed 1 --budget 1ms");
  ASSERT_NE(cut.out.find("resume"), std::string::npos) << cut.out;
  ASSERT_EQ(harness("run --backend host --filter 'split_kv_merge/v=bf16,out=f32/d=64,h=8/single'")
                .exit_code,
            0);
  const Ran info = harness("cache info");
  // Of each choice of cases two, and of no cases, with which a worker is asked what it is.
  EXPECT_NE(info.out.find("packs      6 files"), std::string::npos) << info.out;
  EXPECT_NE(info.out.find("runs       3 of "), std::string::npos) << info.out;
  const std::size_t at = info.out.find("resumable  ");
  ASSERT_NE(at, std::string::npos) << info.out;
  const std::string name = info.out.substr(at + 11, info.out.find('\n', at) - at - 11);
  const Ran clear = harness("cache clear");
  EXPECT_EQ(clear.exit_code, 0) << clear.err;
  EXPECT_NE(clear.out.find("removed 2 runs"), std::string::npos) << clear.out;
  EXPECT_FALSE(fs::exists(ended));
  EXPECT_EQ(run(), runs() / name);
  EXPECT_EQ(std::distance(fs::directory_iterator(home() / "packs"), {}), 2);
  const Ran resumed = harness("--resume " + name + " --budget 1ms");
  EXPECT_NE(resumed.out.find("of 12 possible"), std::string::npos) << resumed.out << resumed.err;
}

}  // namespace
}  // namespace parity::test
