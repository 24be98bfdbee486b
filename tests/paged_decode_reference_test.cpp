// The paged decode reference against values worked out by hand.
#include "reference/paged_decode.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "tests/tensor_values.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// One row, one kv head: pages 3 and 1 of a pool of four pages of 4 slots, D = 2, tokens in order.
struct OneRow {
  Tensor q{Dtype::f64, {1, 2, 2}};
  Tensor k{Dtype::f64, {4, 4, 1, 2}};
  Tensor v{Dtype::f64, {4, 4, 1, 2}};
  Tensor indptr = integer_tensor({0, 2});
  Tensor indices = integer_tensor({3, 1});
  Tensor last = integer_tensor({2});
  Tensor first = integer_tensor({1});

  /// Index of element d of token t (5 tokens: three in page 3 from slot 1 on, two in page 1).
  static std::int64_t at(int t, int d) { return ((t < 3 ? 12 + 1 + t : 4 + t - 3)) * 2 + d; }

  PagedDecodeProblem problem() const {
    return {.q = q,
            .k = PagedPool::contiguous(k),
            .v = PagedPool::contiguous(v),
            .page_indptr = indptr,
            .page_indices = indices,
            .last_page_len = last,
            .first_page_offset = first,
            .page_size = 4,
            .kv_heads = 1};
  }
  PagedDecodeReference run(std::int64_t drop_last = 0) const {
    PagedDecodeProblem asked = problem();
    asked.drop_last = drop_last;
    return paged_decode(asked);
  }
};

TEST(PagedDecodeReferenceTest, EqualScoresGiveTheMeanAndTheLogOfTheCount) {
  OneRow row;
  for (int t = 0; t < 5; ++t) row.v.set(OneRow::at(t, 0), 10.0 + t);
  const PagedDecodeReference result = row.run();
  EXPECT_EQ(result.tokens, std::vector<std::int64_t>{5});
  EXPECT_NEAR(result.out.at(0), 12.0, 1e-14);
  EXPECT_EQ(result.out.at(1), 0.0);
  EXPECT_NEAR(result.lse.at(0), std::log2(5.0), 1e-14);
  EXPECT_NEAR(result.abs_mass.at(0), 12.0, 1e-14);
  EXPECT_NEAR(result.rms_mass.at(0), std::sqrt(100 + 121 + 144 + 169 + 196.0) / 5, 1e-13);
}

TEST(PagedDecodeReferenceTest, LogSumExpIsInBaseTwoOfNaturalScores) {
  OneRow row;
  row.q.set(0, 1.0);
  row.k.set(OneRow::at(4, 0), std::log(3.0));  // weight 3 against four times 1
  row.v.set(OneRow::at(4, 1), 7.0);
  const PagedDecodeReference result = row.run();
  EXPECT_NEAR(result.lse.at(0), std::log2(7.0), 1e-14);
  EXPECT_NEAR(result.out.at(1), 3.0, 1e-14);
  EXPECT_NEAR(result.max_score.at(0), std::log2(3.0), 1e-14);
  EXPECT_NEAR(result.lse.at(1), std::log2(5.0), 1e-14) << "head 1 has q = 0";
  EXPECT_NEAR(result.out.at(3), 1.4, 1e-14);
}

TEST(PagedDecodeReferenceTest, DropLastLeavesOutTheNewestToken) {
  OneRow row;
  row.v.set(OneRow::at(4, 0), 5.0);
  EXPECT_NEAR(row.run(0).out.at(0), 1.0, 1e-14);
  EXPECT_EQ(row.run(1).out.at(0), 0.0);
  EXPECT_EQ(row.run(1).tokens.front(), 4);
  EXPECT_EQ(row.run(9).lse.at(0), -kInfinity);
}

TEST(PagedDecodeReferenceTest, UnattendedSlotsNeverMatter) {
  OneRow row;
  for (int t = 0; t < 5; ++t) row.v.set(OneRow::at(t, 0), 1.0);
  const PagedDecodeReference clean = row.run();
  for (const std::int64_t slot : {0, 1, 6, 7, 8, 9, 12}) {
    row.k.set(slot * 2, kNan);
    row.v.set(slot * 2, kInfinity);
  }
  EXPECT_EQ(row.run().out, clean.out);
  EXPECT_EQ(row.run().lse, clean.lse);
}

TEST(PagedDecodeReferenceTest, NothingAttendedIsZeroAndMinusInfinity) {
  OneRow row;
  row.indptr = integer_tensor({0, 0});
  row.indices = integer_tensor({});
  row.last = integer_tensor({0});
  row.first = integer_tensor({0});
  const PagedDecodeReference result = row.run();
  EXPECT_EQ(result.out, Tensor(Dtype::f64, {1, 2, 2}));
  EXPECT_EQ(result.lse.at(0), -kInfinity);
  EXPECT_EQ(result.max_score.at(0), 0.0);
}

TEST(PagedDecodeReferenceTest, AllScoresMinusInfinityIsNothingAttended) {
  OneRow row;
  row.q.set(0, 1.0);
  for (int t = 0; t < 5; ++t) row.k.set(OneRow::at(t, 0), -kInfinity);
  EXPECT_EQ(row.run().out.at(0), 0.0);
  EXPECT_EQ(row.run().lse.at(0), -kInfinity);
}

TEST(PagedDecodeReferenceTest, AMinusInfiniteScoreHasWeightZero) {
  OneRow row;
  row.q.set(0, 1.0);
  row.k.set(OneRow::at(2, 0), -kInfinity);
  row.v.set(OneRow::at(2, 0), 1e300);
  EXPECT_EQ(row.run().out.at(0), 0.0);
  EXPECT_NEAR(row.run().lse.at(0), 2.0, 1e-14);
}

TEST(PagedDecodeReferenceTest, NanAndInfiniteScoresSpoilTheirHeadAlone) {
  for (const double bad : {kNan, kInfinity}) {
    OneRow row;
    row.q.set(0, 1.0);
    row.q.set(3, 1.0);
    row.k.set(OneRow::at(1, 0), bad);
    // Head 1 reads 0 · bad = NaN too, so only head 0 may see the infinity.
    row.q.set(2, bad == bad ? -1.0 : 0.0);
    const PagedDecodeReference result = row.run();
    EXPECT_TRUE(std::isnan(result.out.at(0)) && std::isnan(result.out.at(1)));
    EXPECT_TRUE(std::isnan(result.lse.at(0)));
    EXPECT_EQ(std::isnan(result.lse.at(1)), std::isnan(bad)) << "-inf for head 1 is no NaN";
  }
}

TEST(PagedDecodeReferenceTest, ANonFiniteValueSpoilsItsElementAlone) {
  for (const double bad : {kNan, kInfinity}) {
    OneRow row;
    row.v.set(OneRow::at(1, 1), bad);
    const PagedDecodeReference result = row.run();
    EXPECT_EQ(result.out.at(0), 0.0);
    EXPECT_FALSE(std::isfinite(result.out.at(1)));
    EXPECT_NEAR(result.lse.at(0), std::log2(5.0), 1e-14);
  }
}

/// What the reference says against a malformed problem.
std::string refusal(const OneRow& row) {
  try {
    row.run();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PagedDecodeReferenceTest, MalformedInputIsRefusedByName) {
  const auto expect_refusal = [](auto change, const std::string& name) {
    OneRow row;
    change(row);
    EXPECT_NE(refusal(row).find(name), std::string::npos) << refusal(row);
  };
  expect_refusal([](OneRow& r) { r.indptr = integer_tensor({0, 3}); }, "page_indptr of row 0");
  expect_refusal([](OneRow& r) { r.indptr = integer_tensor({1, 0}); }, "page_indptr of row 0");
  expect_refusal([](OneRow& r) { r.indices = integer_tensor({3, 4}); }, "page_indices of row 0");
  expect_refusal([](OneRow& r) { r.last = integer_tensor({5}); }, "last_page_len of row 0");
  expect_refusal([](OneRow& r) { r.last = integer_tensor({0}); }, "last_page_len of row 0");
  expect_refusal([](OneRow& r) { r.first = integer_tensor({4}); }, "first_page_offset of row 0");
  expect_refusal([](OneRow& r) { r.last = Tensor(Dtype::i64, {1}); }, "last_page_len is i64");
  expect_refusal([](OneRow& r) { r.v = Tensor(Dtype::f32, {4, 3, 1, 2}); }, "v is f32[4,3,1,2]");
  expect_refusal([](OneRow& r) { r.v = Tensor(Dtype::f32, {4, 4, 2}); }, "a pool is f32[4,4,2]");
  expect_refusal([](OneRow& r) { r.q = Tensor(Dtype::i32, {1, 2, 2}); }, "q is i32");
}

TEST(PagedDecodeReferenceTest, QueryHeadsShareTheKvHeadOfTheirGroup) {
  // Two kv heads, four query heads, one token: out is v of kv head h / 2.
  Tensor v(Dtype::f32, {1, 1, 2, 1});
  v.set(0, 3.0);
  v.set(1, 4.0);
  const Tensor q(Dtype::f32, {1, 4, 1});
  const Tensor k(Dtype::f32, {1, 1, 2, 1});
  const Tensor indptr = integer_tensor({0, 1}), indices = integer_tensor({0});
  const Tensor last = integer_tensor({1}), first = integer_tensor({0});
  const PagedDecodeReference result = paged_decode({.q = q,
                                                    .k = PagedPool::contiguous(k),
                                                    .v = PagedPool::contiguous(v),
                                                    .page_indptr = indptr,
                                                    .page_indices = indices,
                                                    .last_page_len = last,
                                                    .first_page_offset = first,
                                                    .page_size = 1,
                                                    .kv_heads = 2});
  EXPECT_EQ(result.out.at(0), 3.0);
  EXPECT_EQ(result.out.at(1), 3.0);
  EXPECT_EQ(result.out.at(2), 4.0);
  EXPECT_EQ(result.out.at(3), 4.0);
}

}  // namespace
}  // namespace parity
