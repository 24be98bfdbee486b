// The chi-square test itself: published critical values, joined bins, and counts that must be
// rejected.
#include "tests/chi_square.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "datasets/errors.hpp"

namespace parity {
namespace {

/// Critical values of published tables.
TEST(ChiSquareTest, TailKnowsPublishedCriticalValues) {
  EXPECT_NEAR(chi_square_tail(3.841458820694124, 1), 0.05, 1e-12);
  EXPECT_NEAR(chi_square_tail(18.307038053275146, 10), 0.05, 1e-12);
  EXPECT_NEAR(chi_square_tail(124.3421134028678, 100), 0.05, 1e-8);
  EXPECT_NEAR(chi_square_tail(10.827566170662733, 1), 0.001, 1e-14);
}

/// With two degrees of freedom it is e^(-x/2), with four (1 + x/2)·e^(-x/2): on both sides of where
/// the series gives way to the fraction, and far out.
TEST(ChiSquareTest, TailIsTheClosedFormWhereThereIsOne) {
  for (const double x : {1e-6, 0.5, 3.9, 4.1, 5.9, 6.1, 20.0, 60.0, 200.0, 1000.0}) {
    const double two = std::exp(-x / 2);
    EXPECT_NEAR(chi_square_tail(x, 2) / two, 1.0, 1e-9) << x;
    EXPECT_NEAR(chi_square_tail(x, 4) / (two * (1 + x / 2)), 1.0, 1e-9) << x;
  }
  EXPECT_EQ(chi_square_tail(0, 7), 1.0);
}

TEST(ChiSquareTest, CountsAsExpectedPassAndOthersDoNot) {
  const ChiSquare right = chi_square({251, 249, 500}, {0.25, 0.25, 0.5});
  EXPECT_NEAR(right.statistic, 1.0 / 250 + 1.0 / 250, 1e-12);
  EXPECT_EQ(right.freedom, 2);
  EXPECT_GT(right.p, 0.99);
  EXPECT_LT(chi_square({350, 150, 500}, {0.25, 0.25, 0.5}).p, 1e-15);
}

TEST(ChiSquareTest, BinsThatAreExpectedLessThanTenTimesAreJoined) {
  const ChiSquare joined = chi_square({4, 6, 80, 7, 3}, {0.04, 0.06, 0.8, 0.07, 0.03});
  EXPECT_EQ(joined.freedom, 2) << "{4, 6}, {80}, {7, 3}";
  EXPECT_EQ(joined.statistic, 0.0);
  EXPECT_EQ(chi_square({50, 44, 6}, {0.5, 0.44, 0.06}).freedom, 1)
      << "the last joins the one before";
  EXPECT_THROW(chi_square({5, 4}, {0.5, 0.5}), UsageError);
  EXPECT_THROW(chi_square({5, 4}, {1.0}), UsageError);
}

TEST(ChiSquareTest, WhatCannotHappenMustNot) {
  EXPECT_EQ(chi_square({500, 499, 1}, {0.5, 0.5, 0.0}).p, 0.0);
}

}  // namespace
}  // namespace parity
