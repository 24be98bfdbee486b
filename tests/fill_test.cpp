// Streams: any element alone equals the filled one; the distribution and the logarithm are as
// stated.
#include "datasets/fill.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"
#include "datasets/philox.hpp"

namespace parity {
namespace {

TEST(FillTest, NormalElementFollowsItsFormula) {
  const std::uint64_t seed = 0x123456789abcdef0;
  const std::uint64_t index = (std::uint64_t{1} << 40) + 3;
  const auto words = philox4x32({0x00000001, 0x80, 77, 0}, {0x9abcdef0, 0x12345678});
  const double sum =
      (words[2] & 0xffff) + (words[2] >> 16) + (words[3] & 0xffff) + (words[3] >> 16);
  EXPECT_EQ(normal_element(seed, 77, index), (sum - 131070) / 32768);
}

TEST(FillTest, RandomWordFollowsItsFormula) {
  const auto words = philox4x32({2, 0, 9, 1}, {5, 0});
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(random_word(5, 9, 8 + i), words[i]);
}

TEST(FillTest, EachElementAloneEqualsTheFilledOne) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    Tensor tensor(dtype, {3, 7});
    fill_normal(tensor, 42, "k_pages", 0.25);
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
      const double alone = 0.25 * normal_element(42, stream_of("k_pages"), i);
      EXPECT_EQ(tensor.at(i), decode(dtype, encode(dtype, alone)));
    }
  }
}

TEST(FillTest, ABigTensorBeginsLikeASmallOne) {
  Tensor small(Dtype::f32, {5});
  Tensor big(Dtype::f32, {8});
  fill_normal(small, 1, "q");
  fill_normal(big, 1, "q");
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(small.at(i), big.at(i));
}

TEST(FillTest, SeedsAndNamesGiveOtherData) {
  std::set<std::string> digests;
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 32})
    for (const char* tensor_name : {"q", "k_pages", "v_pages"}) {
      Tensor tensor(Dtype::f32, {16});
      fill_normal(tensor, seed, tensor_name);
      digests.insert(digest(tensor).hex());
    }
  EXPECT_EQ(digests.size(), 9u);
}

TEST(FillTest, MomentsAreThoseOfTheStatedDistribution) {
  constexpr int kCount = 100000;
  double sum = 0;
  double squares = 0;
  double largest = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = normal_element(3, 1, i);
    EXPECT_EQ(x, static_cast<double>(static_cast<float>(x)));
    sum += x;
    squares += x * x;
    largest = std::max(largest, std::fabs(x));
  }
  EXPECT_NEAR(sum / kCount, 0.0, 0.015);
  EXPECT_NEAR(std::sqrt(squares / kCount), 1.1547, 0.01);
  EXPECT_LT(largest, 4.0);
  EXPECT_GT(largest, 3.3);
}

TEST(FillTest, OnlyFloatingTensorsAreFilled) {
  Tensor indices(Dtype::i32, {4});
  EXPECT_THROW(fill_normal(indices, 1, "page_indices"), UsageError);
}

TEST(FillTest, LnIsWithinOnePercent) {
  EXPECT_EQ(ln_of(1), 0.0);
  for (std::uint64_t n = 2; n <= (1u << 20); ++n) {
    const double want = std::log(static_cast<double>(n));
    ASSERT_LT(std::fabs(ln_of(n) - want), std::min(0.01, 0.01 * want)) << n;
  }
  EXPECT_NEAR(ln_of(~std::uint64_t{0}), 64 * std::log(2.0), 0.01);
  EXPECT_THROW(ln_of(0), UsageError);
}

TEST(FillTest, LnHasTheSameBitsEverywhere) {
  EXPECT_EQ(ln_of(2), 0.693147180559945);
  EXPECT_EQ(ln_of(3), 0.693147180559945 * (1.5 + 0.3371894346 * 0.5 * 0.5));
  EXPECT_EQ(ln_of(1000), 0x1.ba33fb412f62cp+2);
}

}  // namespace
}  // namespace parity
