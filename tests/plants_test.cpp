// Plants by name.
#include "harness/plants/plants.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "datasets/errors.hpp"
#include "device/faults.hpp"

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
              "no plant is called 'weak_modul_key'; there are weak_module_key drift");
  }
}

TEST(PlantsTest, SayWhatFindingTheyMustProduce) {
  const auto expected = [](std::string_view name) -> const Plant& {
    for (const Plant& plant : plants()) {
      if (plant.name == name) return plant;
    }
    throw UsageError("no such plant");
  };
  EXPECT_EQ(expected("weak_module_key").expected_kind, "order_dependent");
  EXPECT_EQ(expected("weak_module_key").expected_carrier, "module_cache");
  EXPECT_EQ(expected("drift").expected_kind, "order_dependent");
  EXPECT_EQ(expected("drift").expected_fingerprint, "bits");
  EXPECT_EQ(expected("drift").expected_carrier, "");
}

}  // namespace
}  // namespace parity
