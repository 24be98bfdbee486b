// Pearson's chi-square test of counts against a distribution.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace parity {

/// The chance that a chi-square variable with `freedom` >= 1 degrees of freedom is `statistic` or
/// more: the regularised upper incomplete gamma function Q(freedom/2, statistic/2), to 1e-10 of its
/// value.
double chi_square_tail(double statistic, std::int64_t freedom);

struct ChiSquare {
  double statistic = 0;
  std::int64_t freedom = 0;  ///< bins - 1
  double p = 1;              ///< of such counts or more telling ones, if the distribution is right
};

/// "1000000 draws in 17 bins: chi-square 12.3, p 0.72", for people.
std::string words(const ChiSquare& test, std::int64_t draws);

/// `probability` sums to 1. Neighbouring bins are joined until each is expected at least ten times.
/// A count where the probability is 0 makes p 0. Throws UsageError where lengths differ or fewer
/// than two bins are left.
ChiSquare chi_square(const std::vector<std::int64_t>& counts,
                     const std::vector<double>& probability);

}  // namespace parity
