// Plants: deliberate faults by name, the finding that each must produce, and cases that show it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parity {

struct Faults;  // device/faults.hpp

/// Ids or globs over them.
using Globs = std::span<const std::string_view>;

struct Plant {
  std::string_view name;
  std::string_view what;  ///< one sentence for a person
  bool Faults::*fault;
  /// How its state sticks: first-wins, last-writer, sticky, counter; race, noise (no state), or
  /// alone (no order).
  std::string_view leak_class;
  std::string_view expected_kind = "order_dependent";
  std::string_view expected_fingerprint = "mismatch";  ///< empty: any
  std::string_view expected_carrier = "";              ///< empty: none is probed
  std::string_view expected_grade = "unnamed";
  std::string_view expected_role = "victim";
  /// Shows by chance: its rate is for the finding to say, and `unstable` is as right where the rate
  /// is so low that order and chance cannot be told apart.
  bool by_chance = false;
  bool may_be_unstable = false;

  /// Smoke cases that show it, and some that it must leave alone.
  Globs cases;
  /// The exact sequence, a glob for each position; "!GLOB" is any other id. Empty: what a launch
  /// strikes (device/faults.hpp), alone. The cases that its last position names, no others, are
  /// the victims.
  Globs sequence = {};
  bool any_order = false;          ///< of those before the victim
  std::size_t random_orders = 0;   ///< 0: every ordered pair once
  std::string_view deadline = "";  ///< empty: the usual one
  std::string_view backend = "";   ///< empty: any
  std::size_t threads = 1;         ///< host threads that it takes to show

  /// Strikes cases by their dtypes alone; else the order decides.
  bool strikes_launches() const { return sequence.empty() && leak_class == "alone"; }
};

/// Those of orders, then those of launches.
std::span<const Plant> plants();
std::span<const Plant> plants_of_orders();
std::span<const Plant> plants_of_launches();

/// Throws UsageError naming the unknown plant and the known ones.
const Plant& plant_named(std::string_view name);

/// The faults of these plants. Throws as plant_named().
Faults faults_of(const std::vector<std::string>& names);

}  // namespace parity
