// Covering arrays: a small set of combinations in which every pair of values of every two axes
// occurs.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace parity {

/// One chosen value index per axis.
using Combination = std::vector<std::size_t>;

/// Deterministic greedy covering array over axes with `sizes[i]` values. `valid` refuses
/// combinations; pairs that occur in no valid combination are left out.
std::vector<Combination> pairwise(const std::vector<std::size_t>& sizes,
                                  const std::function<bool(const Combination&)>& valid);

}  // namespace parity
