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
Ran harness(const std::filesystem::path& home, const std::string& afterwards,
            const std::string& arguments) {
  return run_harness(
      home,
      "run --backend host --filter 'paged_decode_v1/*/short' --worker \"sh -c '" PARITY_HARNESS
      " worker; " +
          afterwards + "'\" " + arguments);
}

TEST(WorkerErrorTest, AWorkerThatNeverEndsWellRunsNothing) {
  const TemporaryFolder home;
  const Ran ran = harness(home.path(), "exit 3", "");
  EXPECT_EQ(ran.exit_code, 5);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_NE(ran.err.find("ended badly after bye: exit status 3"), std::string::npos) << ran.err;
}

TEST(WorkerErrorTest, OneBadEndIsExitCodeFiveThoughAllCasesPassed) {
  const TemporaryFolder home;
  const std::string report = (home.path() / "report.json").string();
  // Workers that were only asked what they are, or compiled, end well: no output lies there yet.
  const std::string outputs = (home.path() / "runs").string() + "/*/blobs/*";
  const Ran ran = harness(home.path(), "if ls " + outputs + " >/dev/null 2>&1; then exit 3; fi",
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
