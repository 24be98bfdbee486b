// The tolerance of one output: what is right passes, the nearest wrong answer does not.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "datasets/errors.hpp"
#include "datasets/fill.hpp"
#include "harness/judge.hpp"

namespace parity {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Dtype kOutputDtypes[] = {Dtype::f32, Dtype::f16, Dtype::bf16};

PackOutput output_of(OutputRule rule, TensorType type,
                     const std::function<double(std::int64_t)>& value, double bound) {
  Tensor expected(Dtype::f64, type.shape);
  Tensor bounds(Dtype::f64, type.shape);
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    expected.set(i, value(i));
    bounds.set(i, bound);
  }
  return {.name = rule == OutputRule::rows ? "out" : "lse",
          .type = std::move(type),
          .rule = rule,
          .expected = std::move(expected),
          .bound = std::move(bounds)};
}

/// Normal values times `scale`; the bound per element never decides unless a test sets it.
PackOutput rows_of(Dtype dtype, Shape shape, double scale = 1.0, double bound = 1.0) {
  return output_of(
      OutputRule::rows, {dtype, std::move(shape)},
      [scale](std::int64_t i) {
        return scale * (1e-3 + normal_element(7, 0, static_cast<std::uint64_t>(i)));
      },
      bound);
}

PackOutput lse_of(const std::vector<double>& values) {
  return output_of(
      OutputRule::log_sum_exp, {Dtype::f32, {static_cast<std::int64_t>(values.size())}},
      [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; }, 0.0);
}

Tensor rounded(const PackOutput& want, double factor = 1.0) {
  Tensor got(want.type);
  for (std::int64_t i = 0; i < got.elements(); ++i) got.set(i, want.expected->at(i) * factor);
  return got;
}

Verdict verdict(const PackOutput& want, const Tensor& got) {
  return judge_output(want, got).verdict;
}

TEST(JudgeOutputTest, NoRowToleranceIsLooserThanTheTable) {
  EXPECT_EQ(row_tolerance(Dtype::f32), 1e-5);
  EXPECT_EQ(row_tolerance(Dtype::f16), 5e-5);
  EXPECT_EQ(row_tolerance(Dtype::bf16), 5e-5);
  EXPECT_THROW(row_tolerance(Dtype::e4m3), UsageError);
}

TEST(JudgeOutputTest, CorrectlyRoundedAnswerHasNoErrorAtAll) {
  for (const Dtype dtype : kOutputDtypes) {
    const PackOutput want = rows_of(dtype, {4, 64}, 0.01, 0.0);
    const Judgement judgement = judge_output(want, rounded(want));
    EXPECT_EQ(judgement.verdict, Verdict::passed) << name(dtype) << judgement.detail;
    EXPECT_EQ(judgement.error, 0.0) << name(dtype);
    EXPECT_EQ(judgement.tolerance, row_tolerance(dtype));
    EXPECT_EQ(violation(want, rounded(want)), 0.0);
  }
}

// A spacing of f16 or bf16 is coarser than the tolerance: the neighbours of the right answer fail.
TEST(JudgeOutputTest, NearestWrongAnswerOfSixteenBitsFails) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    const PackOutput want = rows_of(dtype, {1, 64});
    Tensor got = rounded(want);
    for (std::int64_t i = 0; i < got.elements(); ++i) {
      const double w = want.expected->at(i);
      got.set(i, got.at(i) + (got.at(i) >= w ? 2 : -2) * half_spacing(dtype, w));
    }
    EXPECT_EQ(verdict(want, got), Verdict::failed) << name(dtype);
    EXPECT_GT(violation(want, got), 1.0);
  }
  // In bf16 one element one spacing off is enough.
  const PackOutput want = rows_of(Dtype::bf16, {1, 64});
  Tensor got = rounded(want);
  const double w = want.expected->at(5);
  got.set(5, got.at(5) + (got.at(5) >= w ? 2 : -2) * half_spacing(Dtype::bf16, w));
  EXPECT_EQ(verdict(want, got), Verdict::failed);
}

TEST(JudgeOutputTest, ToleranceOfFullPrecisionLiesBetweenJustInsideAndJustOutside) {
  const PackOutput want = rows_of(Dtype::f32, {4, 64});
  EXPECT_EQ(verdict(want, rounded(want, 1 + 0.98e-5)), Verdict::passed);
  EXPECT_EQ(verdict(want, rounded(want, 1 + 1.02e-5)), Verdict::failed);
  EXPECT_NEAR(violation(want, rounded(want, 1 + 5e-5)), 5.0, 0.05);
}

TEST(JudgeOutputTest, BoundPerElementHoldsWhereTheRowErrorDoesNotSee) {
  PackOutput want = rows_of(Dtype::f32, {1, 4096}, 1.0, 1e-6);
  Tensor got = rounded(want);
  got.set(17, got.at(17) + 1e-4);
  const Judgement judgement = judge_output(want, got);
  EXPECT_EQ(judgement.verdict, Verdict::failed);
  EXPECT_LT(judgement.error, judgement.tolerance);
  EXPECT_NE(judgement.detail.find("out[0,17]: got "), std::string::npos) << judgement.detail;
  want.bound->set(17, 2e-4);
  EXPECT_EQ(verdict(want, got), Verdict::passed);
  want.bound->set(17, kNan);
  EXPECT_EQ(verdict(want, got), Verdict::failed);
}

TEST(JudgeOutputTest, SaysHowMuchOfItsBoundTheWorstElementTakes) {
  const PackOutput want = rows_of(Dtype::f32, {2, 64}, 1.0, 1e-3);
  Tensor got = rounded(want);
  EXPECT_EQ(judge_output(want, got).outputs.at(0).of_bound, 0.0);
  got.set(70, want.expected->at(70) + 2.5e-4);
  const OutputError output = judge_output(want, got).outputs.at(0);
  EXPECT_EQ(output.name, "out");
  EXPECT_NEAR(output.of_bound, 0.25, 1e-3);
  got.set(3, kNan);
  EXPECT_EQ(judge_output(want, got).outputs.at(0).of_bound, kInfinity);
}

// E1: NaN equals NaN, and Inf − Inf skipped the tensor.
TEST(JudgeOutputTest, NanNeverPasses) {
  for (const double wrong : {kNan, kInfinity, -kInfinity}) {
    const PackOutput want = rows_of(Dtype::f32, {2, 8});
    Tensor got = rounded(want);
    got.set(11, wrong);
    const Judgement judgement = judge_output(want, got);
    EXPECT_EQ(judgement.verdict, Verdict::failed);
    EXPECT_EQ(judgement.fingerprint, Fingerprint::mismatch);
    EXPECT_EQ(judgement.error, kInfinity);
    EXPECT_NE(judgement.detail.find("out[1,3]"), std::string::npos) << judgement.detail;
    EXPECT_EQ(violation(want, got), kInfinity);
  }
}

TEST(JudgeOutputTest, NonFiniteValuesPassOnlyWhereTheReferenceSaysSo) {
  PackOutput want = rows_of(Dtype::f32, {1, 8});
  Tensor got = rounded(want);
  want.expected->set(3, kInfinity);
  for (const auto& [value, right] : std::vector<std::pair<double, bool>>{
           {kInfinity, true}, {-kInfinity, false}, {kNan, false}, {1.0, false}}) {
    got.set(3, value);
    EXPECT_EQ(verdict(want, got), right ? Verdict::passed : Verdict::failed) << value;
  }
  want.expected->set(3, kNan);
  for (const auto& [value, right] :
       std::vector<std::pair<double, bool>>{{kNan, true}, {kInfinity, false}, {0.0, false}}) {
    got.set(3, value);
    EXPECT_EQ(verdict(want, got), right ? Verdict::passed : Verdict::failed) << value;
  }
  want.bound->set(3, kInfinity);  // any non-finite value
  for (const auto& [value, right] :
       std::vector<std::pair<double, bool>>{{kNan, true}, {-kInfinity, true}, {0.0, false}}) {
    got.set(3, value);
    EXPECT_EQ(verdict(want, got), right ? Verdict::passed : Verdict::failed) << value;
  }
}

TEST(JudgeOutputTest, SpecialElementHidesNoErrorElsewhereInItsRow) {
  PackOutput want = rows_of(Dtype::f32, {1, 8});
  want.expected->set(3, kNan);
  Tensor got = rounded(want);
  EXPECT_EQ(verdict(want, got), Verdict::passed);
  got.set(4, got.at(4) * 1.05 + 0.01);
  EXPECT_EQ(verdict(want, got), Verdict::failed);
}

// E2: zeros "close to" a small answer. q = 0 makes all weights 1/L, the answer the mean of V.
TEST(JudgeOutputTest, AllZerosFail) {
  constexpr std::int64_t kTokens = 65536;
  constexpr std::int64_t kHeadDim = 8;
  const auto mean = [](std::int64_t d) {
    double sum = 0;
    for (std::int64_t t = 0; t < kTokens; ++t)
      sum += normal_element(7, 0, static_cast<std::uint64_t>(t * kHeadDim + d));
    return sum / kTokens;
  };
  for (const Dtype dtype : kOutputDtypes) {
    const PackOutput want = output_of(OutputRule::rows, {dtype, {1, 1, kHeadDim}}, mean, 1.0);
    for (std::int64_t d = 0; d < kHeadDim; ++d)
      EXPECT_LT(std::abs(want.expected->at(d)), 0.02) << "a loose absolute tolerance sees nothing";
    EXPECT_EQ(verdict(want, rounded(want)), Verdict::passed) << name(dtype);
    EXPECT_EQ(verdict(want, Tensor(want.type)), Verdict::failed) << name(dtype);
    EXPECT_GT(violation(want, Tensor(want.type)), 1e4);
  }
}

// E8: only batch row 0 was compared.
TEST(JudgeOutputTest, WrongRowOneFails) {
  const PackOutput want = rows_of(Dtype::f16, {2, 1, 16});
  Tensor got = rounded(want);
  for (std::int64_t i = 16; i < 32; ++i) got.set(i, want.expected->at(i) * 1.05);
  const Judgement judgement = judge_output(want, got);
  EXPECT_EQ(judgement.verdict, Verdict::failed);
  EXPECT_EQ(judgement.detail.find("out[1,0,"), 0u) << judgement.detail;
  EXPECT_EQ(judgement.detail.find("rows are wrong"), std::string::npos) << "one row is wrong";
  EXPECT_NEAR(judgement.error, 0.05, 0.001);
}

TEST(JudgeOutputTest, SmallRowIsNotHiddenByALargeOne) {
  PackOutput want = rows_of(Dtype::f32, {2, 8});
  for (std::int64_t i = 0; i < 8; ++i) want.expected->set(i, 1e6);
  Tensor got = rounded(want);
  for (std::int64_t i = 8; i < 16; ++i) got.set(i, want.expected->at(i) * 1.001);
  EXPECT_EQ(verdict(want, got), Verdict::failed);
}

TEST(JudgeOutputTest, RowWithNothingAttendedMustBeExactlyZero) {
  PackOutput want = rows_of(Dtype::f16, {2, 4});
  for (std::int64_t i = 4; i < 8; ++i) want.expected->set(i, 0.0);
  Tensor got = rounded(want);
  EXPECT_EQ(verdict(want, got), Verdict::passed);
  got.set(6, 0x1p-24);  // the smallest f16 there is
  const Judgement judgement = judge_output(want, got);
  EXPECT_EQ(judgement.verdict, Verdict::failed);
  EXPECT_EQ(judgement.detail.find("out[1,2]: got "), 0u) << judgement.detail;
  EXPECT_EQ(violation(want, got), kInfinity);
}

TEST(JudgeOutputTest, LogSumExpIsHeldToItsOwnTolerance) {
  const PackOutput want = lse_of({0.0, 12.5, -kInfinity});
  Tensor got = rounded(want);
  EXPECT_EQ(verdict(want, got), Verdict::passed);
  got.set(0, 0.98e-5);
  EXPECT_EQ(verdict(want, got), Verdict::passed);
  EXPECT_NEAR(judge_output(want, got).error, 0.98e-5, 1e-9);
  got.set(0, 1.02e-5);
  EXPECT_EQ(verdict(want, got), Verdict::failed);
  EXPECT_NEAR(violation(want, got), 1.02, 1e-3);
  got.set(0, 0.0);
  got.set(2, -1e30);
  EXPECT_EQ(verdict(want, got), Verdict::failed);
}

TEST(JudgeOutputTest, LogSumExpGrowsItsToleranceWithItsSize) {
  const PackOutput want = lse_of({1000.0});
  Tensor got(want.type);
  got.set(0, 1000.0 + 0x1p-13);  // two spacings of f32; 1e-5 alone would refuse it
  EXPECT_EQ(verdict(want, got), Verdict::passed);
  got.set(0, 1000.0 + 0x1p-11);
  EXPECT_EQ(verdict(want, got), Verdict::failed);
}

TEST(JudgeOutputTest, OutputWithoutElementsProvesNothing) {
  const PackOutput want = rows_of(Dtype::f32, {0, 8});
  EXPECT_EQ(verdict(want, Tensor(want.type)), Verdict::untrusted);
  const PackOutput flat = rows_of(Dtype::f32, {8, 0});
  EXPECT_EQ(verdict(flat, Tensor(flat.type)), Verdict::untrusted);
}

TEST(JudgeOutputTest, DetailSaysHowManyRowsAreWrong) {
  const PackOutput want = rows_of(Dtype::f32, {3, 4});
  const std::string detail = judge_output(want, rounded(want, 1.05)).detail;
  EXPECT_NE(detail.find("(row error 0.05 > 1e-05; 3 of 3 rows are wrong)"), std::string::npos)
      << detail;
}

TEST(JudgeOutputTest, TypesThatDoNotAgreeAreAUsageError) {
  PackOutput want = rows_of(Dtype::f32, {2, 4});
  EXPECT_THROW(judge_output(want, Tensor(Dtype::f16, {2, 4})), UsageError);
  EXPECT_THROW(judge_output(want, Tensor(Dtype::f32, {4, 2})), UsageError);
  const Tensor got = rounded(want);
  want.bound.reset();
  EXPECT_THROW(judge_output(want, got), UsageError);
}

}  // namespace
}  // namespace parity
