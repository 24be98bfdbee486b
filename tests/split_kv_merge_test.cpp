// split_kv_merge: against its reference, at its edges, and what it refuses.
#include "device/split_kv_merge.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "harness/judge.hpp"
#include "tests/split_kv_merge_run.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The kernel against the reference, judged as in a run.
void expect_right(MergeRun& run, const std::string& id) {
  const MergeProblem problem(id);
  const Merged got = run.merge(problem);
  const ReferenceResult want = problem.expectation();
  EXPECT_EQ(want.refused, "") << id;
  for (const auto& [output, tensor] :
       {std::pair{want.outputs[0], got.out}, {want.outputs[1], got.lse}}) {
    const Judgement judgement = judge_output(output, tensor);
    EXPECT_EQ(judgement.verdict, Verdict::passed) << id << ": " << judgement.detail;
    EXPECT_LE(judgement.error, judgement.tolerance) << id;
  }
}

TEST(SplitKvMergeTest, AgreesWithTheReferenceForEveryDtypeAndHeadDim) {
  MergeRun run;
  expect_right(run, "v=f32,out=f32/d=64,h=3/ragged");
  expect_right(run, "v=f32,out=bf16/d=96,h=2/ragged");
  expect_right(run, "v=f16,out=f32/d=128,h=8/ragged");
  expect_right(run, "v=bf16,out=f16/d=256,h=3/ragged");
  expect_right(run, "v=f16,out=bf16/d=8,h=5/ragged");
  expect_right(run, "v=bf16,out=f32/d=40,h=1/ragged");
  expect_right(run, "v=f32,out=f16/d=16,h=2/ragged");
}

TEST(SplitKvMergeTest, AgreesWithTheReferenceForSpecialValues) {
  MergeRun run;
  expect_right(run, "v=f32,out=bf16/d=96,h=2/nan");
  expect_right(run, "v=f16,out=f32/d=128,h=3/nan");
  expect_right(run, "v=f32,out=bf16/d=96,h=2/empty");
}

/// At D = 256 a stream holds a quarter of the partials: more than the 512 after which it is
/// flushed, although a third attended to nothing.
TEST(SplitKvMergeTest, ManyPartialsStayInsideTheTolerance) {
  MergeRun run;
  expect_right(run, "v=bf16,out=f16/d=256,h=1/many");
}

/// B1.
TEST(SplitKvMergeTest, MergingTwoEmptyStatesGivesTheEmptyState) {
  MergeRun run;
  for (const double garbage : {0.0, kNan, kInfinity}) {
    MergeProblem problem = MergeProblem::one_row({-kInfinity, -kInfinity});
    for (std::int64_t i = 0; i < problem.v.elements(); ++i) problem.v.set(i, garbage);
    const Merged got = run.merge(problem);
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(got.out.at(i), 0.0);
    EXPECT_EQ(got.lse.at(0), -kInfinity);
  }
}

/// B2: q = 0, so that lse is log2 of the count, 3072 + 64 tokens.
TEST(SplitKvMergeTest, ASuffixOf64Among3136TokensWeighsTwoPercent) {
  MergeRun run;
  MergeProblem problem = MergeProblem::one_row({std::log2(3072.0), std::log2(64.0)});
  for (std::int64_t i = 0; i < 8; ++i) {
    problem.v.set(i, 0.0);
    problem.v.set(8 + i, 1.0);
  }
  const Merged got = run.merge(problem);
  EXPECT_NEAR(got.out.at(0), 64.0 / 3136.0, 1e-8);
  EXPECT_NEAR(got.lse.at(0), std::log2(3136.0), 2e-6);
}

/// B4: 2 rows of 2 chunks each.
TEST(SplitKvMergeTest, EveryRowOfASplitResultIsWritten) {
  MergeRun run;
  MergeProblem problem("v=f32,out=f32/d=64,h=3/ragged");
  problem.set_rows({0, 2, 4});
  // Partials 1 and 3 of these are empty in some heads; no row is.
  const Merged got = run.merge_into_nan(problem);
  for (std::int64_t i = 0; i < got.out.elements(); ++i) EXPECT_TRUE(std::isfinite(got.out.at(i)));
  for (std::int64_t i = 0; i < got.lse.elements(); ++i) EXPECT_TRUE(std::isfinite(got.lse.at(i)));
}

TEST(SplitKvMergeTest, OnePartialReturnsItselfBitForBit) {
  MergeRun run;
  for (const char* id : {"v=f32,out=f32/d=64,h=3/single", "v=f16,out=f16/d=8,h=3/single",
                         "v=bf16,out=bf16/d=40,h=3/single"}) {
    const MergeProblem problem(id);
    const Merged got = run.merge(problem);
    const auto front = [](const Tensor& whole, const Tensor& part) {
      return whole.bytes().first(part.bytes().size());  // the rest belongs to no row
    };
    EXPECT_TRUE(std::ranges::equal(got.out.bytes(), front(problem.v, got.out))) << id;
    EXPECT_TRUE(std::ranges::equal(got.lse.bytes(), front(problem.lse, got.lse))) << id;
  }
}

TEST(SplitKvMergeTest, MergingIsAssociativeWithinTheTolerance) {
  MergeRun run;
  MergeProblem all("v=f32,out=f32/d=64,h=3/many");
  all.set_rows({0, 37});
  MergeProblem parts = all;
  parts.set_rows({0, 5, 5, 29, 30, 37});
  const Merged merged = run.merge(parts);
  MergeProblem rest = MergeProblem::from(merged);
  rest.set_rows({0, 5});
  const Merged twice = run.merge(rest);
  const ReferenceResult want = all.expectation();
  EXPECT_EQ(judge_output(want.outputs[0], twice.out).verdict, Verdict::passed);
  EXPECT_EQ(judge_output(want.outputs[1], twice.lse).verdict, Verdict::passed);
}

TEST(SplitKvMergeTest, NanAndPlusInfinitySpoilTheirRowAndHeadAlone) {
  MergeRun run;
  const MergeProblem sound("v=f32,out=f32/d=64,h=3/ragged");
  const Merged before = run.merge(sound);
  for (const double bad : {kNan, kInfinity}) {
    MergeProblem problem = sound;
    problem.lse.set(5 * 3 + 1, bad);  // row 3, whose partials are 4 to 10, head 1
    const Merged got = run.merge(problem);
    for (std::int64_t place = 0; place < 5 * 3; ++place) {
      const bool spoiled = place == 3 * 3 + 1;
      EXPECT_EQ(std::isnan(got.lse.at(place)), spoiled) << place;
      if (!spoiled) {
        EXPECT_EQ(got.lse.at(place), before.lse.at(place));
      }
      for (std::int64_t i = place * 64; i < (place + 1) * 64; ++i) {
        ASSERT_EQ(std::isnan(got.out.at(i)), spoiled) << place;
        if (!spoiled) {
          ASSERT_EQ(got.out.at(i), before.out.at(i));
        }
      }
    }
  }
}

/// A maximum that ignores NaN is -inf here, and so is that of a row with nothing to merge.
TEST(SplitKvMergeTest, ANanAmongEmptyPartialsIsNotHidden) {
  MergeRun run;
  const Merged got = run.merge(MergeProblem::one_row({-kInfinity, kNan, -kInfinity}));
  EXPECT_TRUE(std::isnan(got.lse.at(0)));
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_TRUE(std::isnan(got.out.at(i)));
}

TEST(SplitKvMergeTest, PartialsThatAttendedToNothingNeverChangeABit) {
  MergeRun run;
  const MergeProblem problem("v=f32,out=f32/d=64,h=3/ragged");
  const Merged want = run.merge(problem);
  for (const double garbage : {0.0, kNan, kInfinity, 6e4}) {
    MergeProblem changed = problem;
    for (std::int64_t i = 0; i < changed.lse.elements(); ++i) {
      if (i < 13 * 3 && changed.lse.at(i) != -kInfinity) continue;  // 13 belong to rows
      if (i >= 13 * 3) changed.lse.set(i, garbage);
      for (std::int64_t d = i * 64; d < (i + 1) * 64; ++d) changed.v.set(d, garbage);
    }
    const Merged got = run.merge(changed);
    EXPECT_EQ(got.out, want.out) << garbage;
    EXPECT_EQ(got.lse, want.lse) << garbage;
  }
}

/// Weights of partials far below the largest are 0, or nearly; what they weigh is not left out.
TEST(SplitKvMergeTest, FarApartPartialsNeitherOverflowNorHideANan) {
  MergeRun run;
  for (const double largest : {3e4, 0.0, -3e4}) {
    MergeProblem problem = MergeProblem::one_row({largest - 3e4, largest});
    problem.v.set(8 + 3, 2.5);
    problem.v.set(0, kNan);
    const Merged got = run.merge(problem);
    EXPECT_EQ(got.lse.at(0), largest);
    EXPECT_EQ(got.out.at(3), 2.5);
    EXPECT_TRUE(std::isnan(got.out.at(0)));
  }
}

/// B8.
TEST(SplitKvMergeTest, ARowsBitsDoNotDependOnTheOthers) {
  MergeRun run;
  MergeProblem problem("v=f32,out=f32/d=64,h=3/ragged");
  const Merged all = run.merge(problem);
  problem.set_rows({0, 0, 0, 0, 11, 13});  // rows 3 and 4: 11 partials more before them, and 2
  const Merged moved = run.merge(problem);
  const auto row = [](const Tensor& tensor, std::size_t index) {
    const std::size_t bytes = tensor.bytes().size() / 5;
    return tensor.bytes().subspan(index * bytes, bytes);
  };
  EXPECT_TRUE(std::ranges::equal(row(moved.out, 4), row(all.out, 4)));
  EXPECT_TRUE(std::ranges::equal(row(moved.lse, 4), row(all.lse, 4)));
  EXPECT_FALSE(std::ranges::equal(row(moved.out, 3), row(all.out, 3)));
}

TEST(SplitKvMergeTest, TheModuleKeyHoldsDtypesAndHeadDim) {
  EXPECT_EQ(split_kv_merge_variant(Dtype::f16, Dtype::bf16, 96).canonical(),
            "split_kv_merge<D=96>(v=f16,out=bf16)");
}

/// Runs `change`d arguments of a sound problem, and expects a refusal that holds `part`.
template <class Change>
void expect_refusal(MergeRun& run, const std::string& part, Change change) {
  const MergeProblem problem("v=f32,out=f32/d=64,h=3/ragged");
  SplitKvMergeArgs args = run.place(problem);
  change(args);
  try {
    split_kv_merge(run.runtime(), args);
    ADD_FAILURE() << "accepted, although: " << part;
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(SplitKvMergeTest, MalformedArgumentsAreRefusedByName) {
  using Args = SplitKvMergeArgs;
  const auto misalign = [](DeviceTensor& tensor) {
    tensor.data = static_cast<std::byte*>(tensor.data) + 2;
  };
  MergeRun run;
  expect_refusal(run, "o_indptr is i64[6]", [](Args& a) { a.o_indptr.type.dtype = Dtype::i64; });
  expect_refusal(run, "o_indptr is i32[0]", [](Args& a) { a.o_indptr.type.shape = {0}; });
  expect_refusal(run, "v is f32[15,192]", [](Args& a) { a.v.type.shape = {15, 192}; });
  expect_refusal(run, "v has 0 heads", [](Args& a) { a.v.type.shape[1] = 0; });
  expect_refusal(run, "v is e4m3", [](Args& a) { a.v.type.dtype = Dtype::e4m3; });
  expect_refusal(run, "out is f64", [](Args& a) { a.out.type.dtype = Dtype::f64; });
  expect_refusal(run, "lse is f16[15,3]", [](Args& a) { a.lse.type.dtype = Dtype::f16; });
  expect_refusal(run, "lse is f32[14,3]", [](Args& a) { a.lse.type.shape[0] = 14; });
  expect_refusal(run, "out is f32[4,3,64]", [](Args& a) { a.out.type.shape[0] = 4; });
  expect_refusal(run, "lse_out is f32[5,2]", [](Args& a) { a.lse_out.type.shape[1] = 2; });
  expect_refusal(run, "head_dim is 60", [](Args& a) {
    a.v.type.shape[2] = 60;
    a.out.type.shape[2] = 60;
  });
  expect_refusal(run, "v must be aligned to 16", [&](Args& a) { misalign(a.v); });
  expect_refusal(run, "out lies on v,", [](Args& a) { a.out.data = a.v.data; });
  expect_refusal(run, "lse_out lies on lse,", [](Args& a) { a.lse_out.data = a.lse.data; });
  expect_refusal(run, "lse_out lies on out,", [](Args& a) { a.lse_out.data = a.out.data; });
  expect_refusal(run, "lse_out lies on o_indptr,",
                 [](Args& a) { a.lse_out.data = a.o_indptr.data; });
  expect_refusal(run, "out must be aligned to 16", [&](Args& a) { misalign(a.out); });
  expect_refusal(run, "lse must be aligned to 4", [&](Args& a) { misalign(a.lse); });
  expect_refusal(run, "o_indptr must be aligned", [&](Args& a) { misalign(a.o_indptr); });
  expect_refusal(run, "lse_out has no memory", [](Args& a) { a.lse_out.data = nullptr; });
}

TEST(SplitKvMergeTest, AnIndptrThatIsNoPrefixSumIsRefused) {
  MergeRun run;
  const auto expect_indptr = [&](const std::string& part, const std::vector<std::int64_t>& indptr) {
    MergeProblem problem("v=f32,out=f32/d=64,h=3/ragged");
    problem.set_rows(indptr);
    const SplitKvMergeArgs args = run.place(problem);
    try {
      split_kv_merge(run.runtime(), args);
      ADD_FAILURE() << "accepted, although: " << part;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  expect_indptr("o_indptr falls from 7 to 6 in row 1", {0, 7, 6, 13});
  expect_indptr("o_indptr must begin with 0, not 1", {1, 7, 13});
  expect_indptr("o_indptr ends at 16, but v has 15", {0, 7, 16});
}

}  // namespace
}  // namespace parity
