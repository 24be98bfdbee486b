// The paged decode reference on windows, softcap, scales and strides, against a direct computation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "datasets/fill.hpp"
#include "reference/paged_decode.hpp"
#include "tests/tensor_values.hpp"

namespace parity {
namespace {

constexpr std::int64_t kTokens = 11, kHeads = 6, kKvHeads = 2, kD = 8, kPage = 4;

Tensor normal(Dtype dtype, const Shape& shape, const std::string& name) {
  Tensor result(dtype, shape);
  fill_normal(result, 3, name, 1.5);
  return result;
}

/// One row of 11 tokens, from slot 1 of page 2 on through pages 0 and 4.
struct OneRow {
  Tensor q = normal(Dtype::bf16, {1, kHeads, kD}, "q");
  Tensor k = normal(Dtype::e4m3, {5, kPage, kKvHeads, kD}, "k");
  Tensor v = normal(Dtype::e5m2, {5, kPage, kKvHeads, kD}, "v");
  Tensor indptr = integer_tensor({0, 3});
  Tensor indices = integer_tensor({2, 0, 4});
  Tensor last = integer_tensor({4});
  Tensor first = integer_tensor({1});

  PagedDecodeProblem problem() const {
    return {.q = q,
            .k = PagedPool::contiguous(k),
            .v = PagedPool::contiguous(v),
            .page_indptr = indptr,
            .page_indices = indices,
            .last_page_len = last,
            .first_page_offset = first,
            .page_size = kPage,
            .kv_heads = kKvHeads,
            .scale = 0.4};
  }
  /// Element 0 of a token, in pools as above.
  static std::int64_t at(std::int64_t token, std::int64_t kv_head) {
    constexpr std::int64_t kPages[] = {2, 0, 4};
    return ((kPages[(token + 1) / kPage] * kPage + (token + 1) % kPage) * kKvHeads + kv_head) * kD;
  }
};

/// The formula in natural exponents and one pass, sharing nothing with the reference.
void expect_direct(const OneRow& row, const PagedDecodeProblem& asked, std::int64_t first_token) {
  const PagedDecodeReference got = paged_decode(asked);
  for (std::int64_t head = 0; head < kHeads; ++head) {
    const std::int64_t kv_head = head / (kHeads / kKvHeads);
    double sum = 0;
    std::vector<double> out(kD);
    for (std::int64_t t = first_token; t < kTokens; ++t) {
      double x = 0;
      for (std::int64_t i = 0; i < kD; ++i)
        x += row.q.at(head * kD + i) * row.k.at(OneRow::at(t, kv_head) + i);
      x *= asked.k_scale * asked.scale;
      if (asked.softcap > 0) x = asked.softcap * std::tanh(x / asked.softcap);
      sum += std::exp(x);
      for (std::int64_t i = 0; i < kD; ++i)
        out[static_cast<std::size_t>(i)] += std::exp(x) * row.v.at(OneRow::at(t, kv_head) + i);
    }
    EXPECT_NEAR(got.lse.at(head), std::log2(sum), 1e-13);
    for (std::int64_t i = 0; i < kD; ++i)
      EXPECT_NEAR(got.out.at(head * kD + i), asked.v_scale * out[static_cast<std::size_t>(i)] / sum,
                  1e-13);
  }
}

TEST(PagedDecodeContractTest, EveryFactorAloneAndAllTogetherAgreeWithTheFormula) {
  const OneRow row;
  expect_direct(row, row.problem(), 0);
  for (int choice = 0; choice < 16; ++choice) {
    PagedDecodeProblem asked = row.problem();
    if ((choice & 1) != 0) asked.softcap = 2.0;
    if ((choice & 2) != 0) asked.k_scale = 0.25;  // A6
    if ((choice & 4) != 0) asked.v_scale = 0.5;
    if ((choice & 8) != 0) asked.window = 7;
    expect_direct(row, asked, asked.window == 0 ? 0 : kTokens - 7);
  }
}

// A6
TEST(PagedDecodeContractTest, ScalesMeanTheDequantisedTensors) {
  OneRow row;
  PagedDecodeProblem scaled = row.problem();
  scaled.k_scale = 0.25;
  scaled.v_scale = 0.5;
  const PagedDecodeReference got = paged_decode(scaled);
  OneRow dequantised = row;
  dequantised.k = Tensor(Dtype::f32, row.k.shape());
  dequantised.v = Tensor(Dtype::f32, row.v.shape());
  for (std::int64_t i = 0; i < row.k.elements(); ++i) {
    dequantised.k.set(i, 0.25 * row.k.at(i));
    dequantised.v.set(i, 0.5 * row.v.at(i));
  }
  const PagedDecodeReference want = paged_decode(dequantised.problem());
  for (std::int64_t i = 0; i < want.out.elements(); ++i) {
    EXPECT_NEAR(got.out.at(i), want.out.at(i), 1e-14);
    EXPECT_NEAR(got.abs_mass.at(i), want.abs_mass.at(i), 1e-14);
    EXPECT_NEAR(got.rms_mass.at(i), want.rms_mass.at(i), 1e-14);
  }
  for (std::int64_t i = 0; i < want.lse.elements(); ++i)
    EXPECT_NEAR(got.lse.at(i), want.lse.at(i), 1e-13);
}

/// One head whose k is 0 and whose v is 1 at element t of token t (t < 8), 0 elsewhere.
struct OneHot {
  std::int64_t tokens;
  Tensor q{Dtype::f32, {1, 1, 8}};
  Tensor k{Dtype::f32, {1, tokens, 1, 8}};
  Tensor v{Dtype::f32, {1, tokens, 1, 8}};
  Tensor indptr = integer_tensor({0, 1});
  Tensor indices = integer_tensor({0});
  Tensor last = integer_tensor({static_cast<int>(tokens)});
  Tensor first = integer_tensor({0});

  explicit OneHot(std::int64_t count) : tokens(count) {
    for (std::int64_t t = 0; t < std::min<std::int64_t>(tokens, 8); ++t) v.set(t * 8 + t, 1.0);
  }
  PagedDecodeReference run(std::int64_t window) const {
    return paged_decode({.q = q,
                         .k = PagedPool::contiguous(k),
                         .v = PagedPool::contiguous(v),
                         .page_indptr = indptr,
                         .page_indices = indices,
                         .last_page_len = last,
                         .first_page_offset = first,
                         .page_size = tokens,
                         .kv_heads = 1,
                         .window = window});
  }
};

// A9: a window of W attended W + 1 tokens.
TEST(PagedDecodeContractTest, AWindowAttendsExactlyItsTokens) {
  const PagedDecodeReference got = OneHot(8).run(4);
  EXPECT_EQ(got.tokens, std::vector<std::int64_t>{4});
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_NEAR(got.out.at(i), i < 4 ? 0.0 : 0.25, 1e-15) << i;
}

// B2: the lse of n equal scores is log2 n, whatever lies outside the window.
TEST(PagedDecodeContractTest, EqualScoresUnderAWindowCountItsTokens) {
  EXPECT_NEAR(OneHot(3136).run(64).lse.at(0), 6.0, 1e-13);
  EXPECT_NEAR(OneHot(3136).run(0).lse.at(0), std::log2(3136.0), 1e-12);
  EXPECT_NEAR(OneHot(40).run(4096).lse.at(0), std::log2(40.0), 1e-13) << "longer than the row";
}

TEST(PagedDecodeContractTest, DroppingTheLastTokenDoesNotMoveTheWindow) {
  const OneRow row;
  PagedDecodeProblem asked = row.problem();
  asked.window = 3;
  asked.drop_last = 1;
  EXPECT_EQ(paged_decode(asked).tokens, std::vector<std::int64_t>{2});
}

TEST(PagedDecodeContractTest, CapsInfiniteProductsAndKeepsNan) {
  OneRow row;
  PagedDecodeProblem asked = row.problem();
  row.k = Tensor(Dtype::f32, row.k.shape());
  asked.softcap = 5.0;
  asked.window = 1;
  const auto lse = [&](double product) {
    row.q.set(0, 1.0);
    row.k.set(OneRow::at(kTokens - 1, 0), product);
    return paged_decode(asked).lse.at(0);
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(lse(kInfinity), 5.0 / std::log(2.0), 1e-13);
  EXPECT_NEAR(lse(-kInfinity), -5.0 / std::log(2.0), 1e-13);
  EXPECT_TRUE(std::isnan(lse(std::numeric_limits<double>::quiet_NaN())));
}

/// The same pools with heads outside slots, behind an offset, pages apart.
TEST(PagedDecodeContractTest, StridesAndOffsetSayWhereElementsLie) {
  const OneRow row;
  const PagedDecodeReference want = paged_decode(row.problem());
  constexpr std::int64_t kOffset = 16, kPageStride = kPage * kKvHeads * kD + 24;
  Tensor k(row.k.dtype(), {kOffset + 5 * kPageStride});
  Tensor v(row.v.dtype(), k.shape());
  for (std::int64_t page = 0; page < 5; ++page)
    for (std::int64_t slot = 0; slot < kPage; ++slot)
      for (std::int64_t head = 0; head < kKvHeads; ++head)
        for (std::int64_t i = 0; i < kD; ++i) {
          const std::int64_t from = ((page * kPage + slot) * kKvHeads + head) * kD + i;
          const std::int64_t to = kOffset + page * kPageStride + (head * kPage + slot) * kD + i;
          k.set(to, row.k.at(from));
          v.set(to, row.v.at(from));
        }
  PagedDecodeProblem asked = {.q = row.q,
                              .k = {k, 5, kPageStride, kD, kPage * kD, kOffset},
                              .v = {v, 5, kPageStride, kD, kPage * kD, kOffset},
                              .page_indptr = row.indptr,
                              .page_indices = row.indices,
                              .last_page_len = row.last,
                              .first_page_offset = row.first,
                              .page_size = kPage,
                              .kv_heads = kKvHeads,
                              .scale = 0.4};
  EXPECT_EQ(paged_decode(asked).out, want.out);
  EXPECT_EQ(paged_decode(asked).lse, want.lse);
  asked.v.offset += 25;
  EXPECT_THROW(paged_decode(asked), UsageError) << "its last slot ends behind the tensor";
}

TEST(PagedDecodeContractTest, ImpossibleFactorsAreRefusedByName) {
  const OneRow row;
  const auto refusal = [&](auto change) -> std::string {
    PagedDecodeProblem asked = row.problem();
    change(asked);
    try {
      paged_decode(asked);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto expect = [&](auto change, const std::string& name) {
    EXPECT_NE(refusal(change).find(name), std::string::npos) << refusal(change);
  };
  expect([](PagedDecodeProblem& p) { p.window = -1; }, "window is -1");
  expect([](PagedDecodeProblem& p) { p.softcap = -2; }, "softcap is -2");
  expect([](PagedDecodeProblem& p) { p.drop_last = -1; }, "drop_last is -1");
  expect([](PagedDecodeProblem& p) { p.page_size = 0; }, "page_size is 0");
  expect([](PagedDecodeProblem& p) { p.kv_heads = 4; }, "kv_heads = 4");
  expect([](PagedDecodeProblem& p) { p.k.stride_slot = -8; }, "k has 5 pages");
}

}  // namespace
}  // namespace parity
