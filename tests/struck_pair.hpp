// Of a kernel, the smoke cases that show what faults of launches strike and what they leave alone.
#pragma once

#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "device/faults.hpp"
#include "harness/case.hpp"

namespace parity::test {

/// Differ in a single dtype; only the first is struck.
struct StruckPair {
  Case struck;
  Case twin;
};

inline std::int64_t dtypes_that_differ(const Case& a, const Case& b) {
  return std::inner_product(a.dtypes.begin(), a.dtypes.end(), b.dtypes.begin(), std::int64_t{0},
                            std::plus<>(), std::not_equal_to<>());
}

/// The cheapest pair in suite smoke whose recipe is not degenerate; none: a fault of a launch could
/// not be shown to be blamed on the right case of this kernel.
inline std::optional<StruckPair> struck_pair(const KernelSpec& kernel) {
  std::vector<Case> cases;
  for (const std::string& id : kernel.smoke) cases.push_back(parse_case(registry(), id));
  std::optional<StruckPair> found;
  for (const Case& struck : cases)
    for (const Case& twin : cases) {
      if (!strikes(struck.dtypes) || strikes(twin.dtypes) || struck.degenerate()) continue;
      if (struck.constants != twin.constants || struck.recipe != twin.recipe) continue;
      if (dtypes_that_differ(struck, twin) != 1) continue;
      if (!found || cost(struck) < cost(found->struck)) found = StruckPair{struck, twin};
    }
  return found;
}

}  // namespace parity::test
