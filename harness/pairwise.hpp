// Covering arrays: a small set of combinations in which every pair of values of every two axes
// occurs.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace parity {

/// One chosen value index per axis.
using Combination = std::vector<std::size_t>;

/// What values of some axes must fulfil. `holds` is asked once these are chosen and reads no
/// others.
struct Constraint {
  std::vector<std::size_t> axes;
  std::function<bool(const Combination&)> holds;
};

/// Deterministic greedy covering array over at most 64 axes with `sizes[i]` values. Pairs that
/// occur in no combination that fulfils all constraints are left out. Throws UsageError for more
/// axes.
std::vector<Combination> pairwise(const std::vector<std::size_t>& sizes,
                                  const std::vector<Constraint>& constraints);

}  // namespace parity
