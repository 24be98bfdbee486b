// Who holds a run's folder, and what asking about it does.
#include "harness/run_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "datasets/errors.hpp"
#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public testing::Test {
 protected:
  bool live() const { return found_runs(runs()).at(0).live; }
  void begin_journal(const std::string& build) const {
    JournalHead head;
    head.build = build;
    Journal(runs() / "a" / "journal", head, [](const std::string& line) { FAIL() << line; });
  }
  fs::path runs() const { return folder_.path(); }

  TemporaryFolder folder_;
};

TEST_F(RunFolderTest, IsHeldByOneAtATime) {
  {
    const RunFolder first(runs(), "a");
    EXPECT_TRUE(live());
    EXPECT_EQ(RunFolder(runs(), "a").path(), runs() / "a-2");
    EXPECT_THROW(RunFolder(runs() / "a"), UsageError);
    EXPECT_FALSE(remove_run(runs() / "a", "build"));
  }
  EXPECT_FALSE(live());
  EXPECT_EQ(RunFolder(runs(), "a").path(), runs() / "a");
}

TEST_F(RunFolderTest, ALostLockIsMadeAnew) {
  { const RunFolder made(runs(), "a"); }
  fs::remove(runs() / "a" / "lock");
  const RunFolder again(runs() / "a");
  EXPECT_TRUE(live());
  EXPECT_THROW(RunFolder(runs() / "a"), UsageError);
}

TEST_F(RunFolderTest, AFolderInTheLocksPlaceIsNamed) {
  fs::create_directories(runs() / "a" / "lock");
  const std::string lock = (runs() / "a" / "lock").string();
  const std::string words = refusal_of([&] { RunFolder(runs() / "a"); });
  EXPECT_NE(words.find(lock), std::string::npos) << words;
  EXPECT_NE(words.find("remove the folder"), std::string::npos) << words;
  try {
    const RunFolder begun(runs(), "a");
    FAIL() << "begun";
  } catch (const DatasetError& error) {
    EXPECT_NE(std::string(error.what()).find("remove the folder " + lock), std::string::npos)
        << error.what();
  }
}

TEST_F(RunFolderTest, AskingIsInNobodysWay) {
  const RunFolder made(runs(), "other");
  std::atomic<bool> done = false;
  std::thread asking([&] {
    while (!done) found_runs(runs());
  });
  std::size_t refused = 0;
  for (int i = 0; i < 2000; ++i) refused += RunFolder(runs(), "a").path() != runs() / "a" ? 1 : 0;
  done = true;
  asking.join();
  EXPECT_EQ(refused, 0u);
}

TEST_F(RunFolderTest, KeepsWhatAnEarlierRunLeftUntilItIsCleared) {
  const auto left = [&] { return fs::exists(runs() / "a" / "journal"); };
  fs::create_directories(runs() / "a" / "blobs");
  std::ofstream(runs() / "a" / "journal") << "hours of work\n";
  std::ofstream(runs() / "a" / "blobs" / "b") << "x";
  const RunFolder again(runs(), "a");
  EXPECT_TRUE(left());
  again.clear();
  EXPECT_FALSE(left());
  EXPECT_TRUE(fs::is_empty(again.blobs()));
  EXPECT_TRUE(live());
}

TEST_F(RunFolderTest, WhatCanBeGoneOnWithIsNotRemoved) {
  { const RunFolder made(runs(), "a"); }
  begin_journal("build");
  EXPECT_FALSE(remove_run(runs() / "a", "build"));
  EXPECT_TRUE(fs::exists(runs() / "a" / "journal"));
  EXPECT_TRUE(remove_run(runs() / "a", "another build"));
  EXPECT_FALSE(fs::exists(runs() / "a"));
}

}  // namespace
}  // namespace parity
