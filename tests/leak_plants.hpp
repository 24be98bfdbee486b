// Every way in which state sticks, as a leak of the simulated worker with a seeded placement, and
// two controls that leak nothing: tests and comparisons know the truth about each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "harness/finding.hpp"
#include "harness/orders.hpp"
#include "tests/simulated_worker.hpp"

namespace parity {

enum class LeakClass : std::uint8_t {
  sticky,           ///< once set, always set
  first_wins,       ///< the first of three writers of a cell wins
  last_writer,      ///< every run overwrites it
  counter,          ///< four runs of every second case
  two_polluters,    ///< both required, in any order
  three_polluters,  ///< all required, in any order
  cleaner,          ///< a sixth of the cases undo it
  brittle,          ///< wrong until a state-setter has run
  self_pollution,   ///< other bits in its own second run
  drift,            ///< sticky, inside the tolerance
  crash,            ///< sticky
  hang,             ///< sticky
  race_90,          ///< sticky, shows in 90 % of the runs
  race_30,          ///< sticky, shows in 30 % of the runs
  flake_30,         ///< wrong in 30 % of the runs, whatever ran before
  noise,            ///< other bits inside the tolerance in half of the runs, whatever ran before
  clean             ///< nothing
};
std::span<const LeakClass> leak_classes();
std::string_view name(LeakClass leak_class);

struct LeakPlant {
  LeakClass leak_class = LeakClass::clean;
  std::size_t victim = 0;
  Role role = Role::victim;
  bool order_dependent = false;
  Leak leak;
  LeakProbe probe;
  /// Whether the victim goes another way after this history than alone, chance left out.
  std::function<bool(const Order&)> reaches;

  /// The history reaches the victim, and without any one of its runs it does not.
  bool is_minimal(const Order& history) const;
};

/// The carrier that a probe of these leaks names, in a worker made by `worker_of`.
inline constexpr std::string_view kLeakCarrier = "leak";

/// Victim, polluters and cleaners are drawn from the suite by the seed; the suite must outlive it
/// and hold at least 12 cases.
LeakPlant leak_plant(LeakClass leak_class, const SimulatedSuite& suite, std::uint64_t seed);

/// `probed`: cells are told, and the leak's carrier can be restored and set; else nothing is.
SimulatedWorker worker_of(SimulatedSuite& suite, const LeakPlant& plant, bool probed);

}  // namespace parity
