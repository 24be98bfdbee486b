// Plants through the built program: caught, told apart, blamed on the right cases of every kernel,
// and the others go on.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "harness/plants/plants.hpp"
#include "tests/harness_process.hpp"
#include "tests/struck_pair.hpp"
#include "tests/test_home.hpp"

namespace parity {

/// GoogleTest prints the plant of a failed test by this.
static void PrintTo(const Plant& plant, std::ostream* out) {
  *out << plant.name;
}

}  // namespace parity

namespace parity::test {
namespace {

using nlohmann::json;
using Ids = std::set<std::string>;

/// What faults of launches strike and its twin, of each kernel. An even number, so that each
/// ordered pair stands side by side in exactly one order.
std::vector<std::string> selection() {
  std::vector<std::string> ids;
  for (const KernelSpec& spec : registry()) {
    const std::optional<StruckPair> pair = struck_pair(spec);
    if (pair) ids.insert(ids.end(), {pair->twin.id(), pair->struck.id()});
  }
  return ids;
}

/// A deadline that no well case misses is long, and each hang waits for all of it: few cases.
std::vector<std::string> selection(const Plant& plant) {
  if (plant.name != "hang") return selection();
  return {plant.cases.begin(), plant.cases.end()};
}

Ran harness(const std::string& arguments) {
  return run_harness(test_home(), arguments);
}

/// Runs with --json and reads it back.
json report(const std::string& arguments, int exit_code) {
  const TemporaryFolder scratch;
  const std::string path = (scratch.path() / "report.json").string();
  const Ran ran = harness(arguments + " --json '" + path + "'");
  EXPECT_EQ(ran.exit_code, exit_code) << arguments << "\n" << ran.out << ran.err;
  return json::parse(read_file(path), nullptr, false);
}

std::string filters(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) text += " --filter " + id;
  return text;
}

std::string options(const Plant& plant) {
  const std::string deadline = plant.name == "hang" ? " --deadline 2s" : "";
  return " --backend host --plant " + std::string(plant.name) + deadline;
}

Ids struck(const std::vector<std::string>& ids) {
  Ids found;
  for (const std::string& id : ids)
    if (strikes(parse_case(registry(), id).dtypes)) found.insert(id);
  return found;
}

Ids blamed(const json& report) {
  Ids found;
  for (const json& finding : report["findings"]) {
    found.insert(finding["victim"]);
    found.insert(finding["also"].begin(), finding["also"].end());
  }
  return found;
}

bool ends_the_process(const Plant& plant) {
  return plant.expected_kind == "crash" || plant.expected_kind == "timeout";
}

int expected_exit_code(const Plant& plant) {
  return plant.expected_kind == "order_dependent" ? 3 : 1;
}

void expect_described(const json& finding, const Plant& plant) {
  SCOPED_TRACE(finding.dump(2));
  EXPECT_EQ(finding["kind"], plant.expected_kind);
  const bool any = plant.expected_fingerprint.empty();
  EXPECT_TRUE(any || finding["fingerprint"] == plant.expected_fingerprint);
  EXPECT_EQ(finding["carrier"], plant.expected_carrier);
  EXPECT_EQ(finding["grade"], plant.expected_grade);
  EXPECT_EQ(finding["sequence"].size(), plant.expected_kind == "order_dependent" ? 2u : 1u);
  EXPECT_EQ(finding["reproduced"][0], finding["reproduced"][1]);
}

/// The printed command, with fewer repeats.
void expect_replayed(const json& finding, const Plant& plant) {
  std::string command = finding["replay"];
  const std::string repeat = "--repeat 20";
  const std::size_t program = command.find(" replay ");
  const std::size_t many = command.find(repeat);
  ASSERT_NE(program, command.npos) << command;
  ASSERT_NE(many, command.npos) << command;
  command.replace(many, repeat.size(), "--repeat 2");
  const json again = report(command.substr(program + 1), expected_exit_code(plant));
  ASSERT_EQ(again["findings"].size(), 1u) << command;
  expect_described(again["findings"][0], plant);
  EXPECT_EQ(again["findings"][0]["victim"], finding["victim"]);
}

/// Cases that end their process void the rest of the order, which goes on without them.
void expect_covered(const json& coverage, const Plant& plant, std::size_t cases, const Ids& ill) {
  const std::size_t well = cases - ill.size();
  // An order that opens with a well case has one pair more: with the first that ended it.
  const std::size_t exercised =
      ends_the_process(plant) ? well * (well - 1) + well : cases * (cases - 1);
  EXPECT_EQ(coverage["adjacent_pairs"]["exercised"], exercised);
  EXPECT_EQ(coverage["adjacent_pairs"]["possible"], cases * (cases - 1));
  const Ids quarantined = coverage.value("quarantined", Ids{});
  EXPECT_EQ(quarantined, ends_the_process(plant) ? ill : Ids{});
}

/// `harness selftest` runs every plant on few cases. Here one of each kind goes over all kernels,
/// for what that does not look at: coverage, verdicts, exit codes and the printed command.
std::vector<Plant> one_of_each_kind() {
  return {plant_named("weak_module_key"), plant_named("unwritten_output"), plant_named("abort"),
          plant_named("hang")};
}

class PlantsCaughtTest : public testing::TestWithParam<Plant> {};

TEST_P(PlantsCaughtTest, IsFoundToldApartBlamedAndReplayedWhileTheRestRuns) {
  const Plant& plant = GetParam();
  const std::vector<std::string> ids = selection(plant);
  const json found =
      report("--permute-order" + options(plant) + filters(ids), expected_exit_code(plant));
  ASSERT_EQ(found["cases"].size(), ids.size());
  ASSERT_FALSE(found["findings"].empty());
  for (const json& finding : found["findings"]) expect_described(finding, plant);
  const bool by_order = !plant.strikes_launches();
  const Ids ill = by_order ? blamed(found) : struck(ids);
  EXPECT_EQ(blamed(found), ill);
  EXPECT_TRUE(by_order || found["findings"].size() == ill.size()) << found["findings"].size();
  for (const json& c : found["cases"])
    EXPECT_EQ(c["verdict"] == "passed" && c["distinct_bits"] == 1, !ill.contains(c["id"]))
        << c.dump(2);
  expect_covered(found["coverage"], plant, ids.size(), ill);
  expect_replayed(found["findings"][0], plant);
}

INSTANTIATE_TEST_SUITE_P(Plants, PlantsCaughtTest, testing::ValuesIn(one_of_each_kind()),
                         [](const auto& plant) { return std::string(plant.param.name); });

/// E9: one illegal access in the middle of an order.
TEST(IllegalAccessTest, IsOneCrashAndTheRestOfTheOrderRuns) {
  const std::vector<std::string> ids = selection();
  const std::vector<std::string> order = {ids[2], ids[3], ids[4]};
  const json found = report("run --backend host --plant sticky_error" + filters(order), 1);
  ASSERT_EQ(found["findings"].size(), 1u);
  EXPECT_EQ(found["findings"][0]["victim"], order[1]);
  EXPECT_EQ(found["findings"][0]["kind"], "crash");
  std::vector<std::string> verdicts;
  for (const json& c : found["cases"]) verdicts.push_back(c["verdict"]);
  EXPECT_EQ(verdicts, (std::vector<std::string>{"passed", "crashed", "passed"}));
}

/// E4: the first wrong case does not hide the others.
TEST(EveryPagesPerChunkTest, IsReportedByItself) {
  std::vector<std::string> ids;
  std::string command = "replay";
  for (const char* ppc : {"1", "2", "3", "4", "7", "16", "64"}) {
    ids.push_back("paged_decode_v2/q=f32,k=f16,v=bf16/d=64,hq=8,hkv=2,page=8,ppc=" +
                  std::string(ppc) + "/exact");
    command += " " + ids.back();
  }
  command += " --backend host";
  for (const bool planted : {false, true}) {
    const json found = report(command + (planted ? " --plant unwritten_output" : ""), planted);
    ASSERT_EQ(found["cases"].size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      EXPECT_EQ(found["cases"][i]["id"], ids[i]);
      EXPECT_EQ(found["cases"][i]["verdict"], planted ? "failed" : "passed") << ids[i];
    }
  }
}

}  // namespace
}  // namespace parity::test
