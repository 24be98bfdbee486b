// Plants by name.
#include "harness/plants/plants.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "device/faults.hpp"
#include "harness/case.hpp"

namespace parity {
namespace {

TEST(PlantsTest, EachSwitchesOnItsOwnFaultAlone) {
  for (const Plant& plant : plants()) {
    Faults only;
    only.*(plant.fault) = true;
    EXPECT_EQ(faults_of({std::string(plant.name)}), only) << plant.name;
    EXPECT_NE(only, Faults{}) << plant.name;
  }
}

TEST(PlantsTest, NoTwoShareANameOrAFault) {
  std::set<std::string_view> names;
  for (const Plant& plant : plants()) {
    names.insert(plant.name);
    for (const Plant& other : plants()) EXPECT_EQ(plant.fault == other.fault, &plant == &other);
  }
  EXPECT_EQ(names.size(), plants().size());
}

TEST(PlantsTest, NoneIsNoFaultAndAllAreAll) {
  EXPECT_EQ(faults_of({}), Faults{});
  const Faults both = faults_of({"drift", "weak_module_key", "drift"});
  EXPECT_TRUE(both.drift);
  EXPECT_TRUE(both.weak_module_key);
}

TEST(PlantsTest, AnUnknownNameIsAUsageErrorNamingTheKnownOnes) {
  try {
    faults_of({"weak_modul_key"});
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "no plant is called 'weak_modul_key'; there are weak_module_key, drift, "
              "dirty_workspace, unlocked_first_use, unwritten_output, overrun, input_overwritten, abort, hang, "
              "sticky_error");
  }
}

TEST(PlantsTest, SayWhatFindingTheyMustProduce) {
  std::vector<std::string> rows;
  for (const Plant& plant : plants())
    rows.push_back(fmt::format("{}: {}/{} {}", plant.name, plant.expected_kind,
                               plant.expected_fingerprint, plant.expected_carrier));
  EXPECT_EQ(rows,
            (std::vector<std::string>{
                "weak_module_key: order_dependent/ module_cache", "drift: order_dependent/bits ",
                "dirty_workspace: order_dependent/ workspace_pool",
                "unlocked_first_use: order_dependent/error module_cache",
                "unwritten_output: hygiene/unwritten ", "overrun: hygiene/guard ",
                "input_overwritten: hygiene/input ", "abort: crash/crash ",
                "hang: timeout/timeout ", "sticky_error: crash/crash "}));
}

TEST(PlantsTest, StrikeCasesOfTheirOwnUnlessTheOrderDecides) {
  const std::vector<Case> smoke = suite_cases(registry(), Suite::smoke);
  for (const Plant& plant : plants()) {
    EXPECT_EQ(plant.strikes.empty(), plant.expected_kind == "order_dependent") << plant.name;
    if (plant.strikes.empty()) continue;
    const std::vector<std::string> patterns(plant.strikes.begin(), plant.strikes.end());
    std::set<std::string> kernels;
    for (const Case& c : select(smoke, patterns)) kernels.insert(c.spec->name);
    EXPECT_EQ(kernels.size(), registry().size()) << plant.name << " misses a kernel";
  }
}

TEST(PlantsTest, StandInTheReadme) {
  const std::filesystem::path readme = std::filesystem::path(PARITY_SOURCE_DIR) / "README.md";
  std::ifstream file(readme);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const Plant& plant : plants())
    EXPECT_NE(text.find(fmt::format("| `{}` |", plant.name)), text.npos) << plant.name;
}

}  // namespace
}  // namespace parity
