// Plants: deliberate faults by name, and the finding that each must produce.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parity {

struct Faults;  // device/faults.hpp

struct Plant {
  std::string_view name;
  std::string_view what;  ///< one sentence for a person
  bool Faults::*fault;
  std::string_view expected_kind;
  std::string_view expected_fingerprint;  ///< empty: any
  std::string_view expected_carrier;      ///< empty: none is probed, the finding is unnamed
  std::size_t threads = 1;                ///< host threads that it takes to show
  /// Strikes cases by their dtypes alone (device/faults.hpp); else the order decides.
  bool strikes_launches = false;
};

std::span<const Plant> plants();

/// The faults of these plants. Throws UsageError naming the unknown plant and the known ones.
Faults faults_of(const std::vector<std::string>& names);

}  // namespace parity
