// Tuned plans as the command line has them: clocks and the file of plans, on the built program.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "tests/harness_process.hpp"
#include "tests/test_home.hpp"

namespace parity::test {
namespace {

class AutotuneCommandTest : public ::testing::Test {
 protected:
  static Ran harness(const std::string& arguments) { return run_harness(test_home(), arguments); }
  std::filesystem::path file(const std::string& name) const { return scratch_.path() / name; }
  static void expect_refused(const Ran& ran, int exit_code, const std::string& mention) {
    EXPECT_EQ(ran.exit_code, exit_code) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_NE(ran.err.find(mention), std::string::npos) << ran.err;
  }

 private:
  const TemporaryFolder scratch_;
};

TEST_F(AutotuneCommandTest, RecordedPlansDependOnNoFile) {
  expect_refused(harness("--autotune-file plans"), 2, "--autotune measure");
  expect_refused(harness("--autotune now"), 2, "now");
}

/// D6: every entry of the file is doubted, in each worker, and said once.
TEST_F(AutotuneCommandTest, MeasuredPlansAreKeptAndADamagedOneIsTunedAgain) {
  const std::string plans = file("plans").string();
  const std::string arguments =
      " --backend host --permute-order --filter '*page=16,ppc=tuned*'"
      " --autotune measure --autotune-file " +
      plans;
  EXPECT_EQ(harness(arguments).exit_code, 0);
  const std::string kept = read_file(plans);
  EXPECT_EQ(std::count(kept.begin(), kept.end(), '\n'), 3) << kept;
  EXPECT_EQ(harness(arguments).err, "") << "all of it is taken";
  EXPECT_EQ(read_file(plans), kept);
  std::ofstream(plans) << kept.substr(0, kept.size() - 5);
  const Ran again = harness(arguments);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.err.find(plans + ":3: entry refused and tuned again"), std::string::npos)
      << again.err;
  EXPECT_EQ(std::count(again.err.begin(), again.err.end(), '\n'), 1) << again.err;
}

TEST_F(AutotuneCommandTest, APlanFileThatIsSomethingElseIsRefusedAndStaysAsItIs) {
  const std::filesystem::path notes = file("notes"), pipe = file("pipe"), link = file("link");
  std::ofstream(notes) << "mine\n";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink(notes, link);
  for (const std::filesystem::path& path : {notes, pipe, link})
    expect_refused(harness("--autotune measure --autotune-file " + path.string()), 2,
                   "--autotune-file " + path.string());
  EXPECT_EQ(read_file(notes), "mine\n");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe) && std::filesystem::is_symlink(link));
}

/// The folder goes away between the start, where it could be written, and the end.
TEST_F(AutotuneCommandTest, PlansThatAreLostAreSaidOnce) {
  const std::filesystem::path folder = file("gone");
  std::filesystem::create_directory(folder);
  std::ofstream(file("worker.sh"))
      << "rmdir '" << folder.string() << "' 2>&-\nexec '" << PARITY_HARNESS "' worker\n";
  const Ran ran = harness(
      "--backend host --permute-order --filter '*page=16,ppc=tuned*' --autotune measure"
      " --worker 'sh " +
      file("worker.sh").string() + "' --autotune-file " + (folder / "plans").string());
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("warning: tuned plans cannot be written to " + folder.string()),
            std::string::npos)
      << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

TEST_F(AutotuneCommandTest, APlantOfTheMemoNeedsTheRecordedClock) {
  for (const char* plant : {"memo_without_dtype", "memo_without_page_size"})
    expect_refused(harness(std::string("--autotune measure --plant ") + plant), 2,
                   "needs --autotune recorded");
}

}  // namespace
}  // namespace parity::test
