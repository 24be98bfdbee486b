// Of a kernel, the smoke cases that show what faults of launches strike and what they leave alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/faults.hpp"
#include "harness/case.hpp"

namespace parity::test {

/// Differ in a single dtype; only the first is struck.
struct StruckPair {
  Case struck;
  Case twin;
};

/// Of two cases of one kernel. An axis that follows another in both does not count by itself.
inline std::int64_t dtypes_that_differ(const Case& a, const Case& b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.dtypes.size(); ++i) {
    const std::string& leader = a.spec->dtypes[i].same_as;
    const auto follows = [&](const Case& c) {
      return !leader.empty() && c.dtypes[i] == c.dtype(leader);
    };
    if (a.dtypes[i] != b.dtypes[i] && !(follows(a) && follows(b))) ++count;
  }
  return count;
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
