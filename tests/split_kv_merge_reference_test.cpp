// The split-KV merge reference against values worked out by hand.
#include "reference/split_kv_merge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// One head, D = 2: partials [v0, v1, lse], dealt to rows by `indptr`.
struct Problem {
  struct Partial {
    double v0, v1, lse;
  };

  Problem(const std::vector<Partial>& partials, const std::vector<int>& indptr)
      : v(Dtype::f64, {std::ssize(partials), 1, 2}),
        lse(Dtype::f64, {std::ssize(partials), 1}),
        o_indptr(Dtype::i32, {std::ssize(indptr)}) {
    for (std::int64_t i = 0; i < std::ssize(partials); ++i) {
      const Partial& partial = partials[static_cast<std::size_t>(i)];
      v.set(2 * i, partial.v0);
      v.set(2 * i + 1, partial.v1);
      lse.set(i, partial.lse);
    }
    for (std::int64_t i = 0; i < o_indptr.elements(); ++i)
      o_indptr.set(i, indptr[static_cast<std::size_t>(i)]);
  }

  SplitKvMergeReference run() const { return split_kv_merge({v, lse, o_indptr}); }

  Tensor v, lse, o_indptr;
};

TEST(SplitKvMergeReferenceTest, PartialsAreWeightedByTwoToTheirLogSumExp) {
  const SplitKvMergeReference result =
      Problem({{4.0, -8.0, 3.0}, {0.0, 8.0, 1.0}, {1.0, 1.0, -5.0}}, {0, 2, 3}).run();
  EXPECT_EQ(result.partials, (std::vector<std::int64_t>{2, 1}));
  EXPECT_NEAR(result.out.at(0), 3.2, 1e-14);  // weights 8/10 and 2/10
  EXPECT_NEAR(result.out.at(1), -4.8, 1e-14);
  EXPECT_NEAR(result.lse.at(0), std::log2(10.0), 1e-14);
  EXPECT_NEAR(result.abs_mass.at(1), 8.0, 1e-14);
  EXPECT_NEAR(result.rms_mass.at(1), std::hypot(6.4, 1.6), 1e-14);
  EXPECT_EQ(result.max_lse.at(0), 3.0);
  EXPECT_EQ(result.out.at(2), 1.0) << "one partial is its own answer";
  EXPECT_EQ(result.lse.at(1), -5.0);
  EXPECT_EQ(result.max_lse.at(1), 5.0);
}

/// B2: 3072 + 64 equal scores.
TEST(SplitKvMergeReferenceTest, ASuffixOf64Among3136TokensWeighsTwoPercent) {
  const SplitKvMergeReference result =
      Problem({{0.0, 1.0, std::log2(3072.0)}, {1.0, 1.0, std::log2(64.0)}}, {0, 2}).run();
  EXPECT_NEAR(result.out.at(0), 0.020408, 1e-6);
  EXPECT_NEAR(result.out.at(1), 1.0, 1e-14);
  EXPECT_NEAR(result.lse.at(0), std::log2(3136.0), 1e-13);
}

/// B1.
TEST(SplitKvMergeReferenceTest, NothingToMergeIsZeroAndMinusInfinity) {
  const SplitKvMergeReference result =
      Problem({{kNan, kInfinity, -kInfinity}, {6e4, kNan, -kInfinity}}, {0, 2, 2}).run();
  EXPECT_EQ(result.partials, (std::vector<std::int64_t>{2, 0}));
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(result.out.at(i), 0.0);
  EXPECT_EQ(result.lse.at(0), -kInfinity);
  EXPECT_EQ(result.lse.at(1), -kInfinity);
}

TEST(SplitKvMergeReferenceTest, APartialOfMinusInfinityIsLeftOutWhateverItsValue) {
  const SplitKvMergeReference result =
      Problem({{kNan, kInfinity, -kInfinity}, {2.0, 3.0, -900.0}, {kNan, kNan, -kInfinity}}, {0, 3})
          .run();
  EXPECT_EQ(result.out.at(0), 2.0);
  EXPECT_EQ(result.out.at(1), 3.0);
  EXPECT_EQ(result.lse.at(0), -900.0);
  EXPECT_EQ(result.max_lse.at(0), 900.0);
}

TEST(SplitKvMergeReferenceTest, NanAndPlusInfinityMakeTheirRowNan) {
  for (const double bad : {kNan, kInfinity})
    for (const double other : {0.0, -kInfinity}) {
      const SplitKvMergeReference result =
          Problem({{1.0, 1.0, other}, {1.0, 1.0, bad}, {5.0, 6.0, 0.0}}, {0, 2, 3}).run();
      EXPECT_TRUE(std::isnan(result.out.at(0)) && std::isnan(result.out.at(1))) << bad;
      EXPECT_TRUE(std::isnan(result.lse.at(0))) << bad;
      EXPECT_EQ(result.out.at(2), 5.0);
      EXPECT_EQ(result.lse.at(1), 0.0);
    }
}

TEST(SplitKvMergeReferenceTest, ANonFiniteValueSpoilsItsElementAlone) {
  for (const double bad : {kNan, kInfinity}) {
    const SplitKvMergeReference result = Problem({{1.0, bad, 0.0}, {3.0, 1.0, 0.0}}, {0, 2}).run();
    EXPECT_EQ(result.out.at(0), 2.0);
    EXPECT_FALSE(std::isfinite(result.out.at(1)));
    EXPECT_EQ(result.lse.at(0), 1.0);
  }
}

TEST(SplitKvMergeReferenceTest, HeadsAreMergedApart) {
  Tensor v(Dtype::f32, {2, 2, 1});  // partial, head
  for (int i = 0; i < 4; ++i) v.set(i, i);
  Tensor lse(Dtype::f32, {2, 2});
  lse.set(1, 1.0);  // partial 0 of head 1 counts twice
  Tensor o_indptr(Dtype::i32, {2});
  o_indptr.set(1, 2);
  const SplitKvMergeReference result = split_kv_merge({v, lse, o_indptr});
  EXPECT_EQ(result.out.at(0), 1.0);  // (0 + 2) / 2
  EXPECT_NEAR(result.out.at(1), 5.0 / 3, 1e-15);
  EXPECT_NEAR(result.lse.at(1), std::log2(3.0), 1e-15);
}

TEST(SplitKvMergeReferenceTest, MalformedInputIsRefusedByName) {
  const auto expect_refusal = [](auto change, const std::string& part) {
    Problem problem({{1.0, 1.0, 0.0}, {1.0, 1.0, 0.0}}, {0, 1, 2});
    change(problem);
    try {
      problem.run();
      ADD_FAILURE() << "accepted, although: " << part;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  expect_refusal([](Problem& p) { p.o_indptr.set(2, 3); }, "o_indptr of row 1 is 1..3 of 2");
  expect_refusal([](Problem& p) { p.o_indptr.set(1, -1); }, "o_indptr of row 0 is 0..-1");
  expect_refusal([](Problem& p) { p.o_indptr.set(0, 2); }, "o_indptr of row 0 is 2..1");
  expect_refusal([](Problem& p) { p.o_indptr = Tensor(Dtype::i64, {3}); }, "o_indptr is i64[3]");
  expect_refusal([](Problem& p) { p.v = Tensor(Dtype::f32, {2, 2}); }, "v is f32[2,2]");
  expect_refusal([](Problem& p) { p.v = Tensor(Dtype::i32, {2, 1, 2}); }, "v is i32[2,1,2]");
  expect_refusal([](Problem& p) { p.lse = Tensor(Dtype::f32, {2, 2}); }, "lse is f32[2,2]");
}

}  // namespace
}  // namespace parity
