// --threads through the built program: the same bits as one case after the other, and the planted
// unlocked first use caught, named and replayed.
#include <gtest/gtest.h>

#include <string>

#include "tests/harness_process.hpp"

namespace parity::test {
namespace {

using nlohmann::json;

Ran harness(const std::string& arguments) {
  return run_harness(std::filesystem::path(PARITY_HARNESS).parent_path() / "test_home", arguments);
}

json report(const std::string& arguments, int exit_code) {
  const TemporaryFolder scratch;
  const std::string path = (scratch.path() / "report.json").string();
  const Ran ran = harness(arguments + " --json '" + path + "'");
  EXPECT_EQ(ran.exit_code, exit_code) << arguments << "\n" << ran.out << ran.err;
  return json::parse(read_file(path), nullptr, false);
}

const std::string kCase = "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged";

TEST(ThreadsCommandTest, SmokeHasTheSameBitsAloneInCrowdsAndInGroups) {
  const json run = report("run --threads 4 --backend host", 0);
  EXPECT_EQ(run["threads"], 4);
  ASSERT_GT(run["cases"].size(), 4u);
  for (const json& c : run["cases"]) {
    EXPECT_EQ(c["verdict"], "passed") << c;
    EXPECT_EQ(c["distinct_bits"], 1) << c;
    EXPECT_EQ(c["runs"], 6) << "alone, four at once, in the order: " << c;
  }
}

TEST(ThreadsCommandTest, PermutedOrdersRunInGroupsToo) {
  const json run = report(
      "--permute-order --threads 3 --backend host --filter '*q=f32*d=64,hq=8,hkv=2,page=16/*'", 0);
  const json& together = run["coverage"]["pairs_together"];
  EXPECT_EQ(together["exercised"], together["planned"]);
  EXPECT_GT(together["exercised"], 0);
  for (const json& c : run["cases"]) EXPECT_EQ(c["distinct_bits"], 1) << c;
}

// E5, planted.
TEST(ThreadsCommandTest, PlantedUnlockedFirstUseIsCaughtNamedAndReplayed) {
  const std::string plant = " --backend host --plant unlocked_first_use";
  EXPECT_EQ(harness("run --filter '" + kCase + "'" + plant).exit_code, 0) << "one at a time";
  const json run = report("run --threads 4 --filter '" + kCase + "'" + plant, 3);
  ASSERT_EQ(run["findings"].size(), 1u) << run;
  const json& finding = run["findings"][0];
  EXPECT_EQ(finding["kind"], "order_dependent");
  EXPECT_EQ(finding["fingerprint"], "error");
  EXPECT_EQ(finding["sequence"], json({kCase, kCase}));
  EXPECT_EQ(finding["carrier"], "module_cache");
  EXPECT_EQ(finding["grade"], "correlated");
  EXPECT_EQ(finding["reproduced"], json({7, 7}));

  std::string replay = finding["replay"];
  replay = replay.substr(replay.find(" replay ") + 1);
  ASSERT_NE(replay.find(" --threads 4"), replay.npos) << replay;
  replay.replace(replay.find("--repeat 20"), 11, "--repeat 2");
  const json again = report(replay, 3);
  // An error may be the machine's: two of two are seen six times more.
  EXPECT_EQ(again["findings"][0]["reproduced"], json({8, 8}));
  EXPECT_EQ(again["findings"][0]["alone"], json({0, 8}));
}

TEST(ThreadsCommandTest, AWorkerThatRunsOneCaseAtATimeIsRefused) {
  const Ran ran =
      harness("run --threads 4 --filter '" + kCase + "' --worker '" PARITY_FAKE_WORKER " serial'");
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("runs one case at a time"), ran.err.npos) << ran.err;
  EXPECT_EQ(harness("run --threads 0").exit_code, 2);
}

}  // namespace
}  // namespace parity::test
