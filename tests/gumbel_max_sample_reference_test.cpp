// The Gumbel-max reference: by hand where that can be done, and what it calls rivals.
#include "reference/gumbel_max_sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "datasets/errors.hpp"
#include "datasets/philox.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Row {
  explicit Row(const std::vector<double>& values, double t = 1, std::uint64_t s = 0)
      : logits(Dtype::f32, {1, std::ssize(values)}),
        temperature(Dtype::f32, {1}),
        seed(Dtype::u64, {1}),
        step(Dtype::u64, {1}) {
    for (std::int64_t i = 0; i < std::ssize(values); ++i)
      logits.set(i, values[static_cast<std::size_t>(i)]);
    temperature.set(0, t);
    step.set_bits(0, s);
  }
  GumbelMaxRow sampled(const GumbelMaxRule& rule = {}) const {
    return gumbel_max_sample_row({logits, temperature, seed, step}, 0, rule);
  }

  Tensor logits, temperature, seed, step;
};

/// Philox of counter and key 0: 6627e8d5 e169c58d bc57ac4c 9b00dbd8, of which the first is the
/// smallest, so the loudest.
TEST(GumbelMaxReferenceTest, TheSmallestWordWinsAmongEqualLogits) {
  EXPECT_EQ(gumbel_word(0, 0, 0), 0x6627e8d5u);
  EXPECT_EQ(gumbel_word(0, 0, 3), 0x9b00dbd8u);
  EXPECT_EQ(Row({0, 0, 0, 0}).sampled().token, 0);
  EXPECT_EQ(Row({-9, 0, 0, 0}).sampled().token, 3);
  const double v = (0x6627e8d5 + 0.5) * 0x1p-32;
  EXPECT_NEAR(gumbel_noise(0x6627e8d5u), -std::log(-std::log1p(-v)), 1e-7);
}

/// The counter is {i/4, 0, step_lo, step_hi}, the key {seed_lo, seed_hi}.
TEST(GumbelMaxReferenceTest, WordsAreWhereTheContractSays) {
  const auto block = philox4x32({5, 0, 0x89abcdef, 0x01234567}, {0x76543210, 0xfedcba98});
  for (std::int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(gumbel_word(0xfedcba9876543210, 0x0123456789abcdef, 20 + i),
              block[static_cast<std::size_t>(i)]);
}

/// Against every score, without what the reference leaves out.
TEST(GumbelMaxReferenceTest, NoElementThatMattersIsLeftOut) {
  for (std::uint64_t step = 0; step < 200; ++step) {
    std::vector<double> logits;
    for (int i = 0; i < 97; ++i) logits.push_back(i * 37 % 97 / 8.0 - (i % 5 == 0 ? 3e3 : 0));
    const Row row(logits, 0.75, step);
    std::vector<double> scores;
    for (std::int64_t i = 0; i < 97; ++i)
      scores.push_back(logits[static_cast<std::size_t>(i)] / 0.75 +
                       gumbel_noise(gumbel_word(0, step, i)));
    const auto best = std::ranges::max_element(scores);
    ASSERT_EQ(row.sampled().token, best - scores.begin()) << step;
  }
}

/// Scores as close as f32 arithmetic cannot tell: 1e-4, or 2^-21 of large ones.
TEST(GumbelMaxReferenceTest, RivalsAreWhatF32MayTakeForTheBest) {
  const double a = gumbel_noise(gumbel_word(0, 0, 0));
  const double b = gumbel_noise(gumbel_word(0, 0, 1));
  const auto rivals = [&](double base, double apart) {
    Row row({base, base + a - b - apart, -1e5, -kInfinity});
    return row.sampled().rivals;
  };
  EXPECT_EQ(rivals(0, 0.9e-4), std::vector<std::int64_t>{1});
  EXPECT_EQ(rivals(0, 1.2e-4), std::vector<std::int64_t>{});
  EXPECT_EQ(rivals(16384, 6e-3), std::vector<std::int64_t>{1});
  EXPECT_EQ(rivals(16384, 1.1e-2), std::vector<std::int64_t>{});
}

TEST(GumbelMaxReferenceTest, EdgesAreWhatTheContractSays) {
  EXPECT_EQ(Row({0, kNan, 1}).sampled().token, -1);
  EXPECT_EQ(Row({0, kNan, 1}).sampled({.skips_nan = true}).token >= 0, true);
  EXPECT_EQ(Row({-kInfinity, -kInfinity}).sampled().token, -1);
  EXPECT_EQ(Row({-kInfinity, -3e38}).sampled().token, 1);
  EXPECT_EQ(Row({3e38, kInfinity, kInfinity}, 0.01).sampled().token, 1);
  for (const double t : {-1.0, kNan, kInfinity}) EXPECT_EQ(Row({0, 0}, t).sampled().token, -1);
  EXPECT_EQ(Row({1, 2, 2, 1}, 0).sampled().token, 1);
  EXPECT_EQ(Row({1, 2, 2, 1}, 0).sampled().rivals.size(), 0u) << "no noise, no doubt";
}

TEST(GumbelMaxReferenceTest, OtherTypesAreRefused) {
  Row row({0, 0});
  row.seed = Tensor(Dtype::i64, {1});
  EXPECT_THROW(row.sampled(), UsageError);
}

}  // namespace
}  // namespace parity
