// The incomplete gamma function by its series and its continued fraction.
#include "tests/chi_square.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr double kLeastExpected = 10.0;
constexpr int kMostTerms = 100000;
constexpr double kSmallest = std::numeric_limits<double>::min();
constexpr double kPrecision = 1e-15;

/// x^a·e^-x / Gamma(a)
double prefactor(double a, double x) {
  return std::exp(a * std::log(x) - x - std::lgamma(a));
}

/// P(a, x) = prefactor · Σ x^n / (a·(a+1)···(a+n)); for x < a + 1.
double lower_by_series(double a, double x) {
  double term = 1.0 / a;
  double sum = term;
  for (int n = 1; n < kMostTerms && term > kPrecision * sum; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return prefactor(a, x) * sum;
}

/// Q(a, x) = prefactor · 1/(x+1-a- 1·(1-a)/(x+3-a- 2·(2-a)/(x+5-a- ...))), evaluated forwards
/// (Lentz); for x >= a + 1.
double upper_by_fraction(double a, double x) {
  double b = x + 1.0 - a;
  double c = 1.0 / kSmallest;
  double d = 1.0 / b;
  double fraction = d;
  for (int n = 1; n < kMostTerms; ++n) {
    const double numerator = -n * (n - a);
    b += 2.0;
    d = numerator * d + b;
    if (std::abs(d) < kSmallest) d = kSmallest;
    c = b + numerator / c;
    if (std::abs(c) < kSmallest) c = kSmallest;
    d = 1.0 / d;
    fraction *= d * c;
    if (std::abs(d * c - 1.0) < kPrecision) break;
  }
  return prefactor(a, x) * fraction;
}

}  // namespace

double chi_square_tail(double statistic, std::int64_t freedom) {
  const double a = static_cast<double>(freedom) / 2.0;
  const double x = statistic / 2.0;
  if (!(x > 0)) return 1.0;
  return x < a + 1.0 ? 1.0 - lower_by_series(a, x) : upper_by_fraction(a, x);
}

std::string words(const ChiSquare& test, std::int64_t draws) {
  return fmt::format("{} draws in {} bins: chi-square {:.4g}, p {:.3g}", draws, test.freedom + 1,
                     test.statistic, test.p);
}

ChiSquare chi_square(const std::vector<std::int64_t>& counts,
                     const std::vector<double>& probability) {
  if (counts.size() != probability.size())
    throw UsageError(fmt::format("chi-square test: {} counts for {} probabilities", counts.size(),
                                 probability.size()));
  const auto total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  std::vector<double> observed, expected;
  double bin_observed = 0, bin_expected = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (probability[i] == 0 && counts[i] > 0)
      return {std::numeric_limits<double>::infinity(), 1, 0.0};
    bin_observed += static_cast<double>(counts[i]);
    bin_expected += total * probability[i];
    if (bin_expected < kLeastExpected) continue;
    observed.push_back(bin_observed);
    expected.push_back(bin_expected);
    bin_observed = bin_expected = 0;
  }
  if (expected.size() < 2)
    throw UsageError(
        fmt::format("chi-square test: {} draws fill fewer than two bins with {:g} each; draw more",
                    total, kLeastExpected));
  observed.back() += bin_observed;
  expected.back() += bin_expected;
  ChiSquare result{.statistic = 0, .freedom = std::ssize(expected) - 1, .p = 1};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = observed[i] - expected[i];
    result.statistic += off * off / expected[i];
  }
  result.p = chi_square_tail(result.statistic, result.freedom);
  return result;
}

}  // namespace parity
