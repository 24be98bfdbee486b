// Detectors on plants whose truth is known, and what they are measured by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/peers/detector.hpp"
#include "tests/leak_plants.hpp"

namespace parity {

/// Sums over placements; the means are over what their name says.
struct Score {
  std::size_t placements = 0;
  std::size_t found = 0;         ///< the victim was seen to go another way, whatever was said of it
  std::size_t told = 0;          ///< and rightly called order-dependent
  std::size_t exact = 0;         ///< and after a history from which nothing can be left out
  std::size_t carrier = 0;       ///< and the carrier named right
  std::size_t false_alarms = 0;  ///< placements with a case accused that depends on no order, or
                                 ///< of an order that does not reach it
  Cost detected;                 ///< of what was found
  Cost settled;                  ///< of what was told
  std::size_t replays = 0;       ///< of what was told or failed: in fresh processes
  std::size_t replayed = 0;      ///< went another way again
  PairCount adjacent;            ///< exercised of possible, as the meter saw them
  PairCount claimed;             ///< as the detector states them

  void add(const Score& other);
};

struct Contest {
  std::size_t cases = 12;
  std::size_t placements = 20;
  std::uint64_t seed = 0;
  std::size_t budget = 0;  ///< executions; 0: the Tuscan plan and 19 rounds more
  std::size_t executions() const { return budget != 0 ? budget : cases * (cases + 20); }
};

/// One placement, drawn by the contest's seed and `placement`.
Score score(const Detector& detector, LeakClass leak_class, const Contest& contest,
            std::size_t placement);

/// All placements.
Score score(const Detector& detector, LeakClass leak_class, const Contest& contest);

/// A Markdown table of the class, a row for each detector.
std::string table(LeakClass leak_class, const Contest& contest,
                  const std::vector<std::string>& names, const std::vector<Score>& scores);

/// A Markdown table with a row for each class and a column for each detector: exact sequences, and
/// the mean cost from the first sight to the sequence. `scores`: by class, then by detector.
std::string summary(const Contest& contest, const std::vector<std::string>& names,
                    const std::vector<std::vector<Score>>& scores);

}  // namespace parity
