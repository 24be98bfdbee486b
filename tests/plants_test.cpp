// Plants by name.
#include "harness/plants/plants.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
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

/// Two with one fault show it on cases of different kernels, and the later is named after the
/// first.
TEST(PlantsTest, NoTwoShareANameAndThoseThatShareAFaultShareNoCase) {
  std::set<std::string_view> names;
  for (auto plant = plants().begin(); plant != plants().end(); ++plant) {
    names.insert(plant->name);
    const auto first = std::ranges::find(plants(), plant->fault, &Plant::fault);
    EXPECT_TRUE(plant->name.starts_with(first->name)) << plant->name;
    for (auto other = first; other != plant; ++other)
      for (const std::string_view id : plant->cases)
        EXPECT_TRUE(other->fault != plant->fault || std::ranges::count(other->cases, id) == 0)
            << id;
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
    const std::string words = error.what();
    EXPECT_TRUE(
        words.starts_with("no plant is called 'weak_modul_key'; there are weak_module_key, "
                          "weak_module_key_gumbel, "))
        << words;
    for (const Plant& plant : plants()) EXPECT_NE(words.find(plant.name), words.npos) << plant.name;
  }
}

/// The leak classes that a harness is judged by.
TEST(PlantsTest, AreOfEveryClass) {
  std::set<std::string_view> classes;
  for (const Plant& plant : plants()) classes.insert(plant.leak_class);
  EXPECT_EQ(classes, (std::set<std::string_view>{"alone", "counter", "first-wins", "last-writer",
                                                 "noise", "race", "sticky"}));
}

/// What is expected is something that a report can say.
TEST(PlantsTest, SayWhatFindingTheyMustProduce) {
  const auto one_of = [](std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
  };
  for (const Plant& plant : plants()) {
    SCOPED_TRACE(plant.name);
    EXPECT_FALSE(plant.what.empty());
    EXPECT_TRUE(one_of(plant.expected_kind,
                       {"order_dependent", "unstable", "mismatch", "hygiene", "crash", "timeout"}));
    EXPECT_TRUE(
        one_of(plant.expected_fingerprint, {"", "mismatch", "bits", "plan", "guard", "unwritten",
                                            "input", "crash", "timeout", "error"}));
    EXPECT_TRUE(one_of(plant.expected_grade, {"confirmed", "necessary", "correlated", "unnamed"}));
    EXPECT_TRUE(one_of(plant.expected_role, {"victim", "brittle"}));
    EXPECT_EQ(plant.expected_carrier.empty(), plant.expected_grade == "unnamed");
    EXPECT_NE(plant.strikes_launches(),
              one_of(plant.expected_kind, {"order_dependent", "unstable", "mismatch"}));
    EXPECT_TRUE(plant.by_chance || !plant.may_be_unstable);
    EXPECT_TRUE(one_of(plant.backend, {"", "cuda", "host"}));
  }
}

/// Selftest asks for them by filter; a bystander must be there to be spared, but where the plant
/// strikes all.
TEST(PlantsTest, TheirCasesAreOfSmokeFewAndHoldWhatTheirSequencesName) {
  std::set<std::string> smoke;
  for (const Case& c : suite_cases(registry(), Suite::smoke)) smoke.insert(c.id());
  for (const Plant& plant : plants()) {
    SCOPED_TRACE(plant.name);
    EXPECT_LE(plant.cases.size(), 10u);
    EXPECT_FALSE(plant.cases.empty());
    for (const std::string_view id : plant.cases)
      EXPECT_TRUE(smoke.contains(std::string(id))) << id;
    for (const std::string_view glob : plant.sequence) {
      const bool other = glob.starts_with('!');
      EXPECT_TRUE(std::ranges::any_of(plant.cases, [&](std::string_view id) {
        return matches(other ? glob.substr(1) : glob, std::string(id)) != other;
      })) << glob;
    }
  }
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
