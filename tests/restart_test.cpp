// What a run's folder keeps when its machine lost power, when the same command cannot begin again,
// and when packs are cleared meanwhile.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <csignal>
#include <functional>

#include "harness/file_lock.hpp"
#include "harness/journal.hpp"
#include "tests/program_home.hpp"

namespace parity::test {
namespace {

namespace fs = std::filesystem;

class RestartTest : public ProgramHomeTest {
 protected:
  std::size_t packs() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(home() / "packs"), fs::directory_iterator{}));
  }
  Descriptor packs_lock() const {
    return Descriptor(open((home() / "packs.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  }
};

TEST_F(RestartTest, AnAgainThatCannotBeginLeavesWhatCanBeResumed) {
  const fs::path worker = scratch_.path() / "worker";
  const auto worker_does = [&](const std::string& line) { std::ofstream(worker) << line << "\n"; };
  const std::string arguments =
      std::string(kFourCases) + " --worker 'sh " + worker.string() + "' --budget 1ms";
  worker_does("exec '" PARITY_HARNESS "' worker");
  ASSERT_NE(harness(arguments).out.find("   resume "), std::string::npos);
  const std::string journal = read_file(run() / "journal");
  ASSERT_NE(journal, "");
  worker_does("exit 7");
  EXPECT_EQ(harness(arguments).exit_code, 5);
  EXPECT_EQ(read_file(run() / "journal"), journal);
  worker_does("exec '" PARITY_HARNESS "' worker");
  EXPECT_EQ(harness("--resume last --budget 1s").err, "");
  EXPECT_GT(read_file(run() / "journal").size(), journal.size());
  harness(arguments);
  EXPECT_FALSE(read_journal_state(run() / "journal")->ended.has_value()) << "begun anew";
}

/// Outputs are not synced to the disk, so that a power loss takes some that the journal names.
TEST_F(RestartTest, WhatLostItsOutputsRunsAgain) {
  ASSERT_EQ(harness(with_report(kFourCases)).exit_code, 0);
  const std::string want = read_file(report());
  const std::vector<std::function<void(const fs::path&)>> losses = {
      [](const fs::path& blob) { fs::remove(blob); },
      [](const fs::path& blob) { fs::resize_file(blob, 0); },
      [](const fs::path& blob) { std::ofstream(blob) << std::string(fs::file_size(blob), 'x'); }};
  for (const auto& lose : losses) {
    std::size_t lost = 0;
    const std::vector<fs::directory_entry> blobs(fs::directory_iterator(run() / "blobs"),
                                                 fs::directory_iterator{});
    for (const auto& blob : blobs) {
      if (blob.file_size() == 0) continue;
      lose(blob);
      ++lost;
    }
    ASSERT_GT(lost, 0u);
    fs::remove(report());
    const Ran ran = harness("--resume last");
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_EQ(read_file(report()), want);
  }
  const auto size = fs::file_size(run() / "journal");
  ASSERT_EQ(harness("--resume last").exit_code, 0);
  EXPECT_EQ(fs::file_size(run() / "journal"), size) << "nothing was left to run";
}

TEST_F(RestartTest, ClearLeavesThePacksThatARunMayBeAboutToOpen) {
  ASSERT_EQ(harness(kFourCases).exit_code, 0);
  fs::remove(home() / "modules");  // Those of all tests are not to be cleared.
  ASSERT_EQ(packs(), 4u) << "of these cases two, and of none two";
  {
    const Descriptor beginning = packs_lock();
    ASSERT_EQ(try_lock(beginning, Lock::shared), Locked::by_us);
    EXPECT_EQ(harness("cache clear").exit_code, 0);
    EXPECT_EQ(packs(), 4u);
  }
  EXPECT_EQ(harness("cache clear").exit_code, 0);
  EXPECT_EQ(packs(), 0u);
}

TEST_F(RestartTest, ClearLeavesTheModulesWhileARunMayUseThem) {
  fs::remove(home() / "modules");  // Those of all tests are not to be cleared.
  fs::create_directory(home() / "modules");
  const fs::path module = home() / "modules" / (std::string(32, 'a') + ".so");
  std::ofstream(module) << "x";
  {
    const Descriptor running = hold_shared(home() / "modules.lock");
    ASSERT_GE(running.number(), 0);
    const Ran ran = harness("cache clear");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_NE(ran.out.find("its 1 entries of 1 bytes stay: a run uses them"), std::string::npos)
        << ran.out;
    EXPECT_TRUE(fs::exists(module));
  }
  EXPECT_EQ(harness("cache clear").exit_code, 0);
  EXPECT_FALSE(fs::exists(module));
}

/// A child that outlives both is not to hold the lock for them.
TEST_F(RestartTest, AKilledRunLeavesNoLockOnTheModules) {
  fs::remove(home() / "modules");
  const fs::path worker = scratch_.path() / "worker";
  const fs::path orphan = scratch_.path() / "orphan";
  std::ofstream(worker) << "setsid sleep 60 &\necho $! >'" << orphan.string()
                        << "'\nkill -KILL $PPID\nexec sleep 60\n";
  EXPECT_EQ(harness(std::string(kFourCases) + " --worker 'sh " + worker.string() + "'").exit_code,
            128 + 9);
  ASSERT_TRUE(fs::exists(home() / "modules.lock"));
  const int left = std::stoi(read_file(orphan));
  EXPECT_EQ(kill(left, 0), 0) << "it has to be there for this to tell anything";
  std::ofstream(home() / "modules" / (std::string(32, 'a') + ".so")) << "x";
  const Ran clear = harness("cache clear");
  EXPECT_NE(clear.out.find("removed 1 entries"), std::string::npos) << clear.out;
  kill(left, SIGKILL);
}

TEST_F(RestartTest, ARunLooksForItsPacksOnceNobodyRemovesAny) {
  ASSERT_EQ(harness(kFourCases).exit_code, 0);
  {
    const Descriptor clearing = packs_lock();
    ASSERT_EQ(try_lock(clearing, Lock::exclusive), Locked::by_us);
    // Long for a run whose packs and modules are there; it waits however fast the machine is.
    EXPECT_EQ(harness(kFourCases, "timeout -s KILL 2").exit_code, 128 + 9);
  }
  EXPECT_EQ(harness(kFourCases).exit_code, 0);
}

}  // namespace
}  // namespace parity::test
