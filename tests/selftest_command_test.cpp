// harness selftest, and noise with and without leave, through the built program.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/harness_process.hpp"
#include "tests/test_home.hpp"

namespace parity::test {
namespace {

using nlohmann::json;

json report(const std::string& arguments, int exit_code) {
  const TemporaryFolder scratch;
  const std::string path = (scratch.path() / "report.json").string();
  const Ran ran = run_harness(test_home(), arguments + " --json '" + path + "'");
  EXPECT_EQ(ran.exit_code, exit_code) << arguments << "\n" << ran.out << ran.err;
  return json::parse(read_file(path), nullptr, false);
}

/// Every night all of them; here one of each way in which state sticks.
TEST(SelftestCommandTest, FindsAndNamesWhatItIsAskedForAndSaysWhatIsNotHere) {
  const std::vector<std::pair<std::string, std::string>> carriers = {
      {"memo_without_page_size", "autotune_memo"},
      {"dirty_workspace", "workspace_pool"},
      {"environment_not_restored", "environment"}};
  std::string asked;
  for (const auto& [plant, carrier] : carriers) asked += " --plant " + plant;
  const json table = report("selftest --backend host --plant last_error_left_over" + asked, 0);
  ASSERT_EQ(table["rows"].size(), carriers.size() + 1) << table;
  EXPECT_EQ(table["rows"][0]["applicable"], false);
  EXPECT_EQ(table["plants"], carriers.size()) << "what is not here is not counted as found";
  for (std::size_t i = 0; i < carriers.size(); ++i) {
    const json& row = table["rows"][i + 1];
    EXPECT_EQ(row["name"], carriers[i].first);
    EXPECT_EQ(row["found"], true);
    EXPECT_EQ(row["exact"], true);
    EXPECT_EQ(row["carrier"], carriers[i].second);
    EXPECT_EQ(row["grade"], "confirmed");
    EXPECT_GT(row["executions"], 20);
    EXPECT_EQ(row["missing"], "");
  }
}

TEST(SelftestCommandTest, AnUnknownPlantIsRefusedAtOnce) {
  const Ran ran = run_harness(test_home(), "selftest --plant nonesuch");
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("no plant is called 'nonesuch'"), ran.err.npos) << ran.err;
}

TEST(SelftestCommandTest, ATableWithoutARowHasNoHeading) {
  const Ran ran =
      run_harness(test_home(), "selftest --backend host --plant drift", "CXX=/no/such/compiler");
  EXPECT_EQ(ran.exit_code, 5) << ran.err;
  EXPECT_EQ(ran.out, "");
}

const std::string kNoise =
    "--permute-order --orders random:8 --backend host --plant atomics_noise"
    " --filter paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged"
    " --filter paged_decode_v1/q=f32,k=f32,v=f16/d=64,hq=8,hkv=2,page=16/ragged";

TEST(NoisyTest, WithoutLeaveNoiseIsUnstable) {
  const json found = report(kNoise, 4);
  ASSERT_FALSE(found["findings"].empty());
  for (const json& finding : found["findings"]) EXPECT_EQ(finding["kind"], "unstable") << finding;
}

TEST(NoisyTest, WithLeaveNothingIsAccusedAndTheReportSaysWhoHasIt) {
  const json found = report(kNoise + " --noisy '*'", 0);
  EXPECT_TRUE(found["findings"].empty()) << found["findings"];
  EXPECT_EQ(found["noisy"].size(), 2u);
  for (const json& c : found["cases"]) {
    EXPECT_EQ(c["verdict"], "passed");
    EXPECT_GT(c["distinct_bits"], 1) << "there was noise: " << c;
  }
}

/// Leave is for bits only: a wrong answer is one all the same.
TEST(NoisyTest, WithLeaveAWrongAnswerIsStillFound) {
  const json found = report(kNoise + " --noisy '*' --plant constant_left_over", 3);
  ASSERT_EQ(found["findings"].size(), 1u) << found["findings"];
  EXPECT_EQ(found["findings"][0]["fingerprint"], "mismatch");
  EXPECT_EQ(found["findings"][0]["carrier"], "device_constants");
}

TEST(NoisyTest, LeaveForNobodyIsRefused) {
  const Ran ran = run_harness(test_home(), "--filter '*/empty' --noisy '*/ragged'");
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("--noisy '*/ragged' matches none"), ran.err.npos) << ran.err;
}

}  // namespace
}  // namespace parity::test
