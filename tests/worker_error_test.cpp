// Workers that end badly after bye, through the built program: exit code 5, and what was found is
// still told.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/harness_process.hpp"

namespace parity::test {
namespace {

using nlohmann::json;

/// The built-in worker, and what its process does after it.
Ran harness(const std::string& afterwards, const std::string& arguments) {
  return run_harness(
      std::filesystem::path(PARITY_HARNESS).parent_path() / "test_home",
      "run --backend host --filter 'paged_decode_v1/*/short' --worker \"sh -c '" PARITY_HARNESS
      " worker; " +
          afterwards + "'\" " + arguments);
}

TEST(WorkerErrorTest, AWorkerThatNeverEndsWellRunsNothing) {
  const Ran ran = harness("exit 3", "");
  EXPECT_EQ(ran.exit_code, 5);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_NE(ran.err.find("ended badly after bye: exit status 3"), std::string::npos) << ran.err;
}

TEST(WorkerErrorTest, OneBadEndIsExitCodeFiveThoughAllCasesPassed) {
  const TemporaryFolder scratch;
  const std::string ended = (scratch.path() / "ended").string();
  const std::string report = (scratch.path() / "report.json").string();
  // The first two are asked what they are; the others compile and run.
  const Ran ran = harness("echo >>" + ended + "; [ \\$(wc -l <" + ended + ") -le 2 ] || exit 3",
                          "--json '" + report + "'");
  EXPECT_EQ(ran.exit_code, 5) << ran.out << ran.err;
  EXPECT_EQ(ran.out.find("WORKER ERROR: 2 of 2 cases passed"), 0u) << ran.out;
  EXPECT_NE(ran.out.find("ended badly after bye: exit status 3; its log: "), std::string::npos);
  const json told = json::parse(read_file(report));
  EXPECT_EQ(told["exit_code"], 5);
  EXPECT_NE(std::string(told["worker_error"]).find("exit status 3"), std::string::npos);
  EXPECT_EQ(told["cases"][0]["verdict"], "passed");
}

}  // namespace
}  // namespace parity::test
