// Rule exact: tokens, flags and counts are equal or wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/judge.hpp"
#include "tests/tensor_values.hpp"

namespace parity {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor doubles(const std::vector<double>& values) {
  Tensor tensor(Dtype::f64, {std::ssize(values)});
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    tensor.set(i, values[static_cast<std::size_t>(i)]);
  return tensor;
}

PackOutput tokens(const std::vector<double>& expected, const std::vector<double>& other) {
  return {"token",
          {Dtype::i32, {std::ssize(expected)}},
          OutputRule::exact,
          doubles(expected),
          doubles(other)};
}

Judgement judged(const PackOutput& want, const std::vector<std::int64_t>& got) {
  return judge_output(want, integer_tensor(got));
}

TEST(JudgeExactTest, EqualTokensPassAndTheNearestOtherOneFails) {
  const PackOutput want = tokens({7, -1, 262143, 0}, {7, -1, 262143, 0});
  EXPECT_EQ(judged(want, {7, -1, 262143, 0}).verdict, Verdict::passed);
  EXPECT_EQ(judged(want, {7, -1, 262143, 0}).error, 0.0);
  for (std::size_t wrong = 0; wrong < 4; ++wrong)
    for (const int off : {-1, 1}) {
      std::vector<std::int64_t> got = {7, -1, 262143, 0};
      got[wrong] += off;
      const Judgement judgement = judged(want, got);
      EXPECT_EQ(judgement.verdict, Verdict::failed) << wrong;
      EXPECT_EQ(judgement.fingerprint, Fingerprint::mismatch);
      EXPECT_EQ(judgement.error, 0.25) << "the share of elements that are wrong";
      EXPECT_EQ(violation(want, integer_tensor(got)), std::numeric_limits<double>::infinity());
    }
  EXPECT_EQ(violation(want, integer_tensor({7, -1, 262143, 0})), 0.0);
  EXPECT_EQ(tolerance_of(want), 0.0);
}

TEST(JudgeExactTest, SaysWhichElementIsWrongAndHowMany) {
  const PackOutput want = tokens({5, 6, 7}, {5, 6, 7});
  EXPECT_EQ(judged(want, {5, 8, 7}).detail, "token[1]: got 8, want 6 (must be equal)");
  EXPECT_EQ(judged(want, {5, 8, 9}).detail,
            "token[1]: got 8, want 6 (must be equal; 2 of 3 elements are wrong)");
}

TEST(JudgeExactTest, TheOtherRightAnswerPassesAndNoThirdOne) {
  const PackOutput want = tokens({5, 6}, {9, 6});
  EXPECT_EQ(judged(want, {5, 6}).verdict, Verdict::passed);
  EXPECT_EQ(judged(want, {9, 6}).verdict, Verdict::passed);
  EXPECT_EQ(judged(want, {7, 6}).verdict, Verdict::failed);
  EXPECT_EQ(judged(want, {5, 9}).verdict, Verdict::failed) << "of another element";
}

TEST(JudgeExactTest, WhatIsNotComparedNeitherFailsNorProvesAnything) {
  const PackOutput want = tokens({5, 6}, {kNan, 6});
  EXPECT_EQ(judged(want, {123, 6}).verdict, Verdict::passed);
  EXPECT_EQ(judged(want, {5, 7}).verdict, Verdict::failed);
  EXPECT_EQ(judged(want, {5, 7}).error, 1.0) << "of the one that is compared";
  EXPECT_EQ(judged(tokens({5, 6}, {kNan, kNan}), {5, 6}).verdict, Verdict::untrusted);
  EXPECT_EQ(judged(tokens({}, {}), {}).verdict, Verdict::untrusted);
}

/// E1: NaN equals nothing.
TEST(JudgeExactTest, NanNeverPasses) {
  PackOutput want = tokens({5}, {5});
  want.type.dtype = Dtype::f32;
  Tensor got(Dtype::f32, {1});
  got.set(0, 5);
  EXPECT_EQ(judge_output(want, got).verdict, Verdict::passed);
  got.set(0, kNan);
  EXPECT_EQ(judge_output(want, got).verdict, Verdict::failed);
}

TEST(JudgeExactTest, WithoutTheOtherAnswersNothingIsJudged) {
  PackOutput want = tokens({5}, {5});
  want.bound.reset();
  EXPECT_THROW(judged(want, {5}), UsageError);
}

}  // namespace
}  // namespace parity
