// The plants by name.
#include "harness/plants/plants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "datasets/errors.hpp"
#include "device/faults.hpp"

namespace parity {

std::span<const Plant> plants() {
  static const std::array<Plant, 2> known = {{
      {.name = "weak_module_key",
       .what = "Modules are kept by kernel name and integer constants, so the first dtypes to "
               "compile win.",
       .fault = &Faults::weak_module_key,
       .expected_kind = "order_dependent",
       .expected_fingerprint = "",
       .expected_carrier = "module_cache"},
      {.name = "drift",
       .what =
           "After a run on f16 values, runs on other dtypes give other bits inside the tolerance.",
       .fault = &Faults::drift,
       .expected_kind = "order_dependent",
       .expected_fingerprint = "bits",
       .expected_carrier = ""},
  }};
  return known;
}

Faults faults_of(const std::vector<std::string>& names) {
  Faults faults;
  for (const std::string& name : names) {
    const auto found = std::find_if(plants().begin(), plants().end(),
                                    [&](const Plant& plant) { return plant.name == name; });
    if (found == plants().end()) {
      std::string known;
      for (const Plant& plant : plants()) known += fmt::format(" {}", plant.name);
      throw UsageError(fmt::format("no plant is called '{}'; there are{}", name, known));
    }
    faults.*(found->fault) = true;
  }
  return faults;
}

}  // namespace parity
