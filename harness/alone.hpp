// How a case behaves alone: in position 0 of fresh processes, under both poisons.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/evidence.hpp"
#include "harness/finding.hpp"
#include "harness/trials.hpp"

namespace parity {

/// unknown: it never came to an outcome. by_poison: its result is a function of what the memory
/// held before. varies: the same run gave different results.
enum class AloneWord : std::uint8_t { unknown, well, bad, by_poison, varies };

struct AloneRecord {
  AloneWord word = AloneWord::unknown;
  Rate odd;         ///< bad results; where none is bad, those with other bits than the first
  Symptom symptom;  ///< of the first odd run
};

/// Runs each case alone `confirmations` times with alternating poison, all in one batch, and counts
/// the plan's own runs in position 0 too. What does not give one result is run as often again, so
/// that chance is not taken for the poison. Sets the outcome alone of each case that `trials` has
/// none of.
std::vector<AloneRecord> repeat_alone(const std::vector<std::size_t>& cases,
                                      const Evidence& evidence, Trials& trials,
                                      std::size_t confirmations);

}  // namespace parity
