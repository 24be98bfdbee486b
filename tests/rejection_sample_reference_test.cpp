// The reference of rejection_sample against values worked out by hand.
#include "reference/rejection_sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "datasets/errors.hpp"

namespace parity {
namespace {

TEST(RejectionSampleReferenceTest, WeightsAreTheLeading44BitsOfTheLargest) {
  EXPECT_EQ(rejection_weight(1.0, 1.0), std::uint64_t{1} << 43);
  EXPECT_EQ(rejection_weight(1.0, 1.5), std::uint64_t{1} << 43);
  EXPECT_EQ(rejection_weight(0.5, 1.9), std::uint64_t{1} << 42);
  EXPECT_EQ(rejection_weight(0x1p-43, 1.0), 1u);
  EXPECT_EQ(rejection_weight(0x1.8p-43, 1.0), 1u) << "rounded down";
  EXPECT_EQ(rejection_weight(0x1.fffffep-44, 1.0), 0u);
  EXPECT_EQ(rejection_weight(0x1p-149, 0x1p-149), std::uint64_t{1} << 43);
  EXPECT_EQ(rejection_weight(0x1.fffffep127, 0x1.fffffep127), std::uint64_t{0xffffff} << 20);
  EXPECT_EQ(rejection_weight(0, 0), 0u);
}

struct Rows {
  Tensor probs, top_k, top_p, min_p, seed, step;

  explicit Rows(const std::vector<double>& values)
      : probs(Dtype::f32, {1, std::ssize(values)}),
        top_k(Dtype::i32, {1}),
        top_p(Dtype::f32, {1}),
        min_p(Dtype::f32, {1}),
        seed(Dtype::u64, {1}),
        step(Dtype::u64, {1}) {
    for (std::int64_t i = 0; i < probs.elements(); ++i)
      probs.set(i, values[static_cast<std::size_t>(i)]);
    top_p.set(0, 1);
  }
  RejectionSampleReference draw() const {
    return rejection_sample({probs, probs, top_k, top_p, min_p, seed, step});
  }
};

/// Nothing is filtered, so the first round's uniform alone decides: among fewer tokens it falls
/// into the one that holds its place among many.
TEST(RejectionSampleReferenceTest, TheCandidateIsWhereTheRunningSumPassesTheUniform) {
  Rows rows(std::vector<double>(1 << 16, 1.0));
  const auto fine = rows.draw();
  ASSERT_EQ(fine.rounds, std::vector<std::int64_t>{1});
  for (const std::int64_t count : {2, 8, 256}) {
    const auto coarse = Rows(std::vector<double>(static_cast<std::size_t>(count), 1.0)).draw();
    EXPECT_EQ(coarse.token[0], fine.token[0] * count >> 16) << count;
  }
  rows.step.set(0, 1);
  EXPECT_NE(rows.draw().token, fine.token);
}

TEST(RejectionSampleReferenceTest, RowsWithoutATokenSaySo) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const std::vector<double>& values :
       {std::vector<double>{0, 0}, {1, kNan}, {1, INFINITY}, {1, -1}}) {
    const auto answer = Rows(values).draw();
    EXPECT_EQ(answer.token, std::vector<std::int64_t>{-1});
    EXPECT_EQ(answer.ok, std::vector<std::int64_t>{0});
    EXPECT_EQ(answer.rounds, std::vector<std::int64_t>{0});
  }
}

/// The mass above 2 is 4/9, above 1 it is 6/9.
TEST(RejectionSampleReferenceTest, AValueIsKeptWhereTheMassAboveItIsTheLimitAtMost) {
  const auto support = [](double p) {
    Rows rows({1, 2, 4, 1, 1});
    rows.top_p.set(0, p);
    std::vector<bool> seen(5, false);
    for (int step = 0; step < 64; ++step) {
      rows.step.set(0, step);
      seen[static_cast<std::size_t>(rows.draw().token[0])] = true;
    }
    return seen;
  };
  EXPECT_EQ(support(0.44), (std::vector<bool>{false, false, true, false, false}));
  EXPECT_EQ(support(0.45), (std::vector<bool>{false, true, true, false, false}));
  EXPECT_EQ(support(0.66), (std::vector<bool>{false, true, true, false, false}));
  EXPECT_EQ(support(0.67), (std::vector<bool>(5, true)));
}

TEST(RejectionSampleReferenceTest, MalformedTensorsAreNamed) {
  Rows rows({1, 2});
  rows.seed = Tensor(Dtype::i64, {1});
  try {
    rows.draw();
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("seed is i64[1], but must be u64 of [1]"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace parity
