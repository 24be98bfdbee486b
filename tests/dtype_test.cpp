// Dtypes: conversion is exact, rounds once, and is checked against every neighbour.
#include "datasets/dtype.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <vector>

#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const std::vector<Dtype> kSmallFloats = {Dtype::f16, Dtype::bf16, Dtype::e4m3, Dtype::e5m2};

std::uint64_t sign_bit(Dtype dtype) {
  return 1ULL << (8 * size_of(dtype) - 1);
}

/// The positive finite values of a small float in ascending order; their bits are their indices.
std::vector<double> finite_values(Dtype dtype) {
  std::vector<double> values;
  for (std::uint64_t bits = 0; std::isfinite(decode(dtype, bits)); ++bits)
    values.push_back(decode(dtype, bits));
  return values;
}

TEST(DtypeTest, NamesParseBack) {
  for (const Dtype dtype : kDtypes) EXPECT_EQ(parse_dtype(name(dtype)), dtype);
  EXPECT_EQ(name(Dtype::bf16), "bf16");
}

/// The compiler warns of an enumerator without a name; this finds one with a name that is not in
/// the list.
TEST(DtypeTest, TheListHoldsEveryDtypeThatHasAName) {
  std::vector<Dtype> named;
  for (int value = 0; value <= 0xff; ++value) try {
      const auto dtype = static_cast<Dtype>(value);
      name(dtype);
      named.push_back(dtype);
    } catch (const UsageError&) {  // No dtype has this number.
    }
  EXPECT_EQ(std::vector<Dtype>(kDtypes.begin(), kDtypes.end()), named);
}

TEST(DtypeTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    parse_dtype("fp16");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'fp16'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("f16, bf16"), std::string::npos);
  }
}

TEST(DtypeTest, EveryPatternOfASmallFloatRoundTrips) {
  for (const Dtype dtype : kSmallFloats) {
    for (std::uint64_t bits = 0; bits < 2 * sign_bit(dtype); ++bits) {
      const double value = decode(dtype, bits);
      if (std::isnan(value))
        ASSERT_TRUE(std::isnan(decode(dtype, encode(dtype, value)))) << name(dtype) << bits;
      else
        ASSERT_EQ(encode(dtype, value), bits) << name(dtype);
    }
  }
}

TEST(DtypeTest, KnownValues) {
  EXPECT_EQ(decode(Dtype::f16, 0x3c00), 1.0);
  EXPECT_EQ(decode(Dtype::f16, 0x7bff), 65504.0);
  EXPECT_EQ(decode(Dtype::f16, 0x0001), 0x1p-24);
  EXPECT_EQ(decode(Dtype::bf16, 0xbf80), -1.0);
  EXPECT_EQ(decode(Dtype::bf16, 0x7f80), kInfinity);
  EXPECT_EQ(decode(Dtype::e4m3, 0x7e), 448.0);
  EXPECT_EQ(decode(Dtype::e4m3, 0x01), 0x1p-9);
  EXPECT_TRUE(std::isnan(decode(Dtype::e4m3, 0x7f)));
  EXPECT_TRUE(std::isnan(decode(Dtype::e4m3, 0xff)));
  EXPECT_EQ(decode(Dtype::e5m2, 0x7b), 57344.0);
  EXPECT_EQ(decode(Dtype::e5m2, 0xfc), -kInfinity);
  EXPECT_TRUE(std::isnan(decode(Dtype::e5m2, 0x7d)));
  EXPECT_EQ(decode(Dtype::i32, 0xffffffff), -1.0);
  EXPECT_EQ(decode(Dtype::u64, 1ULL << 60), 0x1p60);
}

TEST(DtypeTest, BetweenTwoNeighboursTheNearerWinsAndTiesGoToEven) {
  for (const Dtype dtype : kSmallFloats) {
    const std::vector<double> values = finite_values(dtype);
    for (std::uint64_t low = 0; low + 1 < values.size(); ++low) {
      const double middle = (values[low] + values[low + 1]) / 2;  // exact in double
      const std::uint64_t even = low % 2 == 0 ? low : low + 1;
      ASSERT_EQ(encode(dtype, middle), even) << name(dtype);
      ASSERT_EQ(encode(dtype, std::nextafter(middle, 0.0)), low) << name(dtype);
      ASSERT_EQ(encode(dtype, std::nextafter(middle, kInfinity)), low + 1) << name(dtype);
      ASSERT_EQ(encode(dtype, -middle), sign_bit(dtype) | even) << name(dtype);
    }
  }
}

TEST(DtypeTest, RoundsOnceAndNotThroughFloat) {
  // To float first this is the tie 1 + 2^-11, which then goes to even: 1.
  EXPECT_EQ(encode(Dtype::f16, 1 + 0x1p-11 + 0x1p-40), 0x3c01u);
  EXPECT_EQ(encode(Dtype::bf16, 1 + 0x1p-8 + 0x1p-40), 0x3f81u);
}

TEST(DtypeTest, FloatsAgreeWithTheHardware) {
  const std::vector<double> values = {0.1,
                                      -1.0 / 3,
                                      1e-40,
                                      0x1p-149,
                                      0x1p-150,
                                      0x1.8p-150,
                                      3e38,
                                      0x1.fffffep127,
                                      0x1.ffffffp127,
                                      -1e300,
                                      0x1.0000010000001p0,
                                      0x1p-126,
                                      0x1.ffffffp-127,
                                      5e-324};
  for (const double value : values)
    EXPECT_EQ(encode(Dtype::f32, value), std::bit_cast<std::uint32_t>(static_cast<float>(value)))
        << value;
}

TEST(DtypeTest, OverflowIsInfinityOrForE4m3Nan) {
  EXPECT_EQ(encode(Dtype::f16, 65519.0), 0x7bffu);
  EXPECT_EQ(encode(Dtype::f16, 65520.0), 0x7c00u);
  EXPECT_EQ(encode(Dtype::bf16, -1e39), 0xff80u);
  EXPECT_EQ(encode(Dtype::e5m2, 61440.0), 0x7cu);
  EXPECT_EQ(encode(Dtype::e4m3, 464.0), 0x7eu);
  EXPECT_EQ(encode(Dtype::e4m3, 465.0), 0x7fu);
  EXPECT_EQ(encode(Dtype::e4m3, -kInfinity), 0x7fu);
  EXPECT_EQ(encode(Dtype::f32, kInfinity), 0x7f800000u);
}

TEST(DtypeTest, NanGivesTheCanonicalQuietNan) {
  EXPECT_EQ(encode(Dtype::f64, -kNan), 0x7ff8000000000000u);
  EXPECT_EQ(encode(Dtype::f32, -kNan), 0x7fc00000u);
  EXPECT_EQ(encode(Dtype::f16, kNan), 0x7e00u);
  EXPECT_EQ(encode(Dtype::bf16, kNan), 0x7fc0u);
  EXPECT_EQ(encode(Dtype::e4m3, kNan), 0x7fu);
  EXPECT_EQ(encode(Dtype::e5m2, kNan), 0x7eu);
}

TEST(DtypeTest, TheSignOfZeroSurvivesUnderflow) {
  EXPECT_EQ(encode(Dtype::f16, -1e-30), 0x8000u);
  EXPECT_EQ(encode(Dtype::bf16, -0.0), 0x8000u);
  EXPECT_EQ(encode(Dtype::e4m3, -5e-324), 0x80u);
}

TEST(DtypeTest, TheRoundingModeOfTheProcessDoesNotMatter) {
  const std::uint64_t nearest = encode(Dtype::f16, 0.1);
  std::fesetround(FE_UPWARD);
  const std::uint64_t upward = encode(Dtype::f16, 0.1);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(upward, nearest);
}

TEST(DtypeTest, IntegersTakeOnlyWholeNumbersInRange) {
  EXPECT_EQ(encode(Dtype::i32, -1), 0xffffffffu);
  EXPECT_EQ(encode(Dtype::u8, 255), 255u);
  EXPECT_EQ(encode(Dtype::i64, -0x1p63), 1ULL << 63);
  EXPECT_THROW(encode(Dtype::i32, 0x1p31), UsageError);
  EXPECT_THROW(encode(Dtype::u8, -1), UsageError);
  EXPECT_THROW(encode(Dtype::u64, 0x1p64), UsageError);
  EXPECT_THROW(encode(Dtype::i64, 0.5), UsageError);
  EXPECT_THROW(encode(Dtype::i32, kNan), UsageError);
}

TEST(DtypeTest, HalfSpacingIsHalfTheWayToTheNextNeighbour) {
  for (const Dtype dtype : kSmallFloats) {
    const std::vector<double> values = finite_values(dtype);
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      const double half = (values[i + 1] - values[i]) / 2;
      ASSERT_EQ(half_spacing(dtype, values[i]), half) << name(dtype) << " " << values[i];
      ASSERT_EQ(half_spacing(dtype, -(values[i] + half)), half) << name(dtype) << " " << values[i];
    }
  }
}

TEST(DtypeTest, HalfSpacingBeyondTheLargestNumberIsThatOfItsBinade) {
  EXPECT_EQ(half_spacing(Dtype::f16, 1e6), 16.0);
  EXPECT_EQ(half_spacing(Dtype::e4m3, 1000.0), 16.0);
  EXPECT_EQ(half_spacing(Dtype::f16, kInfinity), 0.0);
  EXPECT_EQ(half_spacing(Dtype::f16, kNan), 0.0);
  EXPECT_EQ(half_spacing(Dtype::i32, 5.0), 0.0);
  EXPECT_EQ(half_spacing(Dtype::f32, 1.0), 0x1p-24);
}

}  // namespace
}  // namespace parity
