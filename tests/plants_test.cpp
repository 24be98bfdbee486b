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
#include "device/variant.hpp"
#include "harness/case.hpp"
#include "tests/struck_pair.hpp"

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
              "dirty_workspace, memo_without_dtype, memo_without_page_size, unlocked_first_use, "
              "unwritten_output, overrun, input_overwritten, abort, hang, "
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
                "memo_without_dtype: order_dependent/plan autotune_memo",
                "memo_without_page_size: order_dependent/plan autotune_memo",
                "unlocked_first_use: order_dependent/error module_cache",
                "unwritten_output: hygiene/unwritten ", "overrun: hygiene/guard ",
                "input_overwritten: hygiene/input ", "abort: crash/crash ",
                "hang: timeout/timeout ", "sticky_error: crash/crash "}));
}

TEST(PlantsTest, StrikeLaunchesUnlessTheOrderDecides) {
  for (const Plant& plant : plants())
    EXPECT_NE(plant.strikes_launches, plant.expected_kind == "order_dependent") << plant.name;
}

TEST(PlantsTest, StrikeWhatEndsInF16AndBf16OrHasBf16Alone) {
  using enum Dtype;
  const auto struck = [](const std::vector<Dtype>& dtypes) { return strikes(dtypes); };
  EXPECT_TRUE(struck({bf16}));
  EXPECT_TRUE(struck({f16, bf16}));
  EXPECT_TRUE(struck({f32, f16, bf16}));
  for (const std::vector<Dtype>& other : std::vector<std::vector<Dtype>>{
           {}, {f16}, {f32}, {bf16, bf16}, {f32, bf16}, {bf16, f16}, {f16, bf16, f32}})
    EXPECT_FALSE(struck(other)) << testing::PrintToString(other);
}

TEST(PlantsTest, StrikeACaseOfEveryKernelAndLeaveItsTwinAlone) {
  for (const KernelSpec& kernel : registry())
    EXPECT_TRUE(test::struck_pair(kernel))
        << kernel.name << " has no smoke case whose last two dtypes are f16 and bf16 (or whose "
        << "only dtype is bf16) beside one that differs from it in one dtype; no fault of a launch "
        << "could be blamed on it";
}

/// Plants see a launch's variant, tests a case.
TEST(PlantsTest, StrikeAModuleExactlyWhereTheyStrikeItsCase) {
  for (const Case& c : suite_cases(registry(), Suite::full)) {
    std::vector<Dtype> dtypes;
    const VariantSpec first = c.spec->modules(c).front();
    for (const auto& [axis, dtype] : first.dtypes) dtypes.push_back(dtype);
    EXPECT_EQ(strikes(dtypes), strikes(c.dtypes))
        << first.canonical() << " for " << c.id() << ": a kernel's dtype axes stand in the order "
        << "of its first module's, and that module is its own";
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
