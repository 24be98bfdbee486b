// The plants by name.
#include "harness/plants/plants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "datasets/errors.hpp"
#include "device/faults.hpp"

namespace parity {
namespace {

std::vector<Plant> all_plants() {
  const auto of_orders = plants_of_orders();
  const auto of_launches = plants_of_launches();
  std::vector<Plant> all(of_orders.begin(), of_orders.end());
  all.insert(all.end(), of_launches.begin(), of_launches.end());
  return all;
}

}  // namespace

std::span<const Plant> plants() {
  static const std::vector<Plant> all = all_plants();
  return all;
}

const Plant& plant_named(std::string_view name) {
  const auto all = plants();
  const auto found = std::ranges::find(all, name, &Plant::name);
  if (found != all.end()) return *found;
  std::vector<std::string_view> known;
  for (const Plant& plant : all) known.push_back(plant.name);
  throw UsageError(
      fmt::format("no plant is called '{}'; there are {}", name, fmt::join(known, ", ")));
}

Faults faults_of(const std::vector<std::string>& names) {
  Faults faults;
  for (const std::string& name : names) faults.*(plant_named(name).fault) = true;
  return faults;
}

}  // namespace parity
