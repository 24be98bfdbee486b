// The spec of split_kv_merge: its smoke cases cover what they must, its recipes hold what their
// names say, and its cases tell right from wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "device/variant.hpp"
#include "harness/case.hpp"
#include "harness/kernels/split_kv_merge_expectation.hpp"
#include "harness/kernels/split_kv_merge_inputs.hpp"
#include "harness/pack_builder.hpp"
#include "tests/struck_pair.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Case merge_case(const std::string& id) {
  return parse_case(registry(), "split_kv_merge/" + id);
}

std::vector<Case> smoke_cases() {
  std::vector<Case> cases = suite_cases(registry(), Suite::smoke);
  std::erase_if(cases, [](const Case& c) { return c.spec->name != "split_kv_merge"; });
  return cases;
}

TEST(SplitKvMergeSpecTest, SmokeCoversDtypesHeadDimsAndRecipesInEightCases) {
  std::set<std::string> ids, recipes;
  std::set<Dtype> v, out;
  std::set<std::int64_t> head_dims;
  for (const Case& c : smoke_cases()) {
    EXPECT_EQ(merge_case(c.id().substr(c.id().find('/') + 1)), c);
    ids.insert(c.id());
    v.insert(c.dtype("v"));
    out.insert(c.dtype("out"));
    head_dims.insert(c.constant("d"));
    recipes.insert(c.recipe);
  }
  EXPECT_EQ(ids.size(), 8u);
  EXPECT_EQ(v.size(), 3u);
  EXPECT_EQ(out.size(), 3u);
  EXPECT_EQ(head_dims, (std::set<std::int64_t>{64, 96, 128, 256}));
  EXPECT_EQ(recipes, (std::set<std::string>{"ragged", "single", "empty", "nan"}));
}

/// A module cache keyed by constants alone must be caught wherever it is used. `empty` reads no
/// value, so there the dtype of the output must differ.
TEST(SplitKvMergeSpecTest, EverySmokeCaseHasATwinThatDiffersInOneDtype) {
  const std::vector<Case> cases = smoke_cases();
  for (const Case& a : cases)
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const Case& b) {
      return a.constants == b.constants && a.recipe == b.recipe &&
             test::dtypes_that_differ(a, b) == 1 &&
             (a.recipe != "empty" || a.dtype("out") != b.dtype("out"));
    })) << a.id();
}

/// build_case refuses a case in which a plausible wrong answer would pass.
TEST(SplitKvMergeSpecTest, CasesTellRightFromWrong) {
  for (const Case& c : smoke_cases()) EXPECT_NO_THROW(build_case(c)) << c.id();
  for (const char* id : {"v=bf16,out=f16/d=64,h=8/ragged", "v=f32,out=bf16/d=8,h=1/ragged",
                         "v=f16,out=f32/d=256,h=1/ragged", "v=f32,out=f32/d=64,h=2/many",
                         "v=bf16,out=bf16/d=256,h=1/many", "v=f32,out=bf16/d=128,h=3/single"})
    EXPECT_NO_THROW(build_case(merge_case(id))) << id;
}

/// B2: where rows merge, both plausible faults must be told apart, in either output alone.
TEST(SplitKvMergeSpecTest, WrongAnswersAreJudgedInEachOutputAlone) {
  const auto wrong_answers = [](const std::string& id) {
    const Case c = merge_case(id);
    std::vector<std::string> names;
    for (const auto& [name, tensors] :
         split_kv_merge_expectation(c, c.spec->inputs(c)).wrong_answers) {
      EXPECT_EQ(tensors.size(), 1u) << name;
      names.push_back(name);
    }
    return names;
  };
  const std::vector<std::string> dropped = {"last_partial_dropped",
                                            "last_partial_dropped in lse_out"};
  std::vector<std::string> all = dropped;
  all.insert(all.end(), {"merged_in_natural_base", "merged_in_natural_base in lse_out"});
  EXPECT_EQ(wrong_answers("v=f32,out=f32/d=64,h=1/ragged"), all);
  EXPECT_EQ(wrong_answers("v=f32,out=f32/d=64,h=1/single"), dropped) << "nothing is merged";
}

TEST(SplitKvMergeSpecTest, InputsAreReproducible) {
  for (const Case& c : smoke_cases()) {
    const TensorList first = c.spec->inputs(c);
    const TensorList second = c.spec->inputs(c);
    ASSERT_EQ(first.size(), 3u);
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].name, second[i].name);
      EXPECT_EQ(first[i].tensor, second[i].tensor) << c.id() << ' ' << first[i].name;
    }
  }
}

/// The row of seven partials, 4 to 10, in heads 0 to 2: empty at 0, 3, 6; at 2, 5; at 1, 4.
TEST(SplitKvMergeSpecTest, RaggedRowsHaveEmptyPartialsAtEitherEndAndANeedle) {
  const Case c = merge_case("v=f32,out=f32/d=8,h=3/ragged");
  const TensorList inputs = c.spec->inputs(c);
  const Tensor& lse = find(inputs, "lse");
  const Tensor& v = find(inputs, "v");
  const std::vector<std::set<int>> empty = {{0, 3, 6}, {2, 5}, {1, 4}};
  for (int head = 0; head < 3; ++head) {
    const std::set<int>& gaps = empty[static_cast<std::size_t>(head)];
    const int needle = head == 0 ? 5 : 6;
    double largest = -kInfinity;
    for (int j = 0; j < 7; ++j) {
      const double value = lse.at((4 + j) * 3 + head);
      EXPECT_EQ(value == -kInfinity, gaps.contains(j)) << head << ' ' << j;
      if (j != needle) largest = std::max(largest, value);
      bool garbage = false;
      for (int i = 0; i < 8; ++i) garbage |= !std::isfinite(v.at(((4 + j) * 3 + head) * 8 + i));
      EXPECT_EQ(garbage, gaps.contains(j)) << head << ' ' << j;
    }
    EXPECT_EQ(lse.at((4 + needle) * 3 + head), largest + 1.0);
  }
}

TEST(SplitKvMergeSpecTest, TwoPartialsOfGarbageBelongToNoRow) {
  for (const std::string& recipe : split_kv_merge_recipes()) {
    const Case c = merge_case("v=f16,out=f32/d=8,h=1/" + recipe);
    const TensorList inputs = c.spec->inputs(c);
    const Tensor& o_indptr = find(inputs, "o_indptr");
    const auto used = static_cast<std::int64_t>(o_indptr.at(o_indptr.elements() - 1));
    ASSERT_EQ(find(inputs, "v").shape(), (Shape{used + 2, 1, 8})) << recipe;
    for (std::int64_t i = used; i < used + 2; ++i) {
      const double lse = find(inputs, "lse").at(i);
      EXPECT_TRUE(!std::isfinite(lse) || lse == 6e4) << recipe;
      EXPECT_FALSE(std::isfinite(find(inputs, "v").at(i * 8 + 3 - (i * 8) % 3))) << recipe;
    }
  }
}

TEST(SplitKvMergeSpecTest, EveryRecipeHoldsWhatItsNameSays) {
  EXPECT_TRUE(std::ranges::all_of(split_kv_merge_rows("single"), [](auto n) { return n == 1; }));
  for (const std::int64_t partials : {0, 1, 2, 7})
    EXPECT_EQ(std::ranges::count(split_kv_merge_rows("ragged"), partials), 1) << partials;
  // Two thirds attended to something. At D = 256 four streams share them, and each is flushed after
  // 512.
  EXPECT_GT(std::ranges::max(split_kv_merge_rows("many")) * 2 / 3, 4 * 512);
  const Case empty = merge_case("v=f32,out=f32/d=8,h=2/empty");
  const ReferenceResult answer = split_kv_merge_expectation(empty, empty.spec->inputs(empty));
  for (std::int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(answer.outputs[1].expected->at(i), -kInfinity);
    EXPECT_EQ(answer.outputs[0].expected->at(8 * i), 0.0);
  }
  EXPECT_THROW(split_kv_merge_rows("nought"), UsageError);
}

/// Rows 0, 1 and 5: NaN; 2 and 3: one element not finite; 4: nothing to merge. Head 1 is sound.
TEST(SplitKvMergeSpecTest, SpecialValuesReachTheirOwnElementsOnly) {
  const Case c = merge_case("v=f32,out=f32/d=8,h=2/nan");
  const ReferenceResult answer = split_kv_merge_expectation(c, c.spec->inputs(c));
  const Tensor& out = *answer.outputs[0].expected;
  const Tensor& lse = *answer.outputs[1].expected;
  for (std::int64_t row = 0; row < 6; ++row) {
    const bool undefined = row == 0 || row == 1 || row == 5;
    EXPECT_EQ(std::isnan(lse.at(2 * row)), undefined) << row;
    EXPECT_EQ(lse.at(2 * row) == -kInfinity, row == 4) << row;
    EXPECT_TRUE(std::isfinite(lse.at(2 * row + 1))) << row;
    for (std::int64_t i = 0; i < 8; ++i) {
      const bool spoiled = undefined || (row == 2 && i == 3) || (row == 3 && i == 5);
      EXPECT_EQ(std::isfinite(out.at(row * 16 + i)), !spoiled) << row << ' ' << i;
      EXPECT_TRUE(std::isfinite(out.at(row * 16 + 8 + i))) << row << ' ' << i;
    }
  }
}

TEST(SplitKvMergeSpecTest, ShapesThatAreNoCaseAreRefused) {
  for (const char* constants : {"d=60,h=4", "d=264,h=4", "d=0,h=4", "d=64,h=0", "d=64,h=5000"}) {
    const std::string id = std::string("v=f32,out=f32/") + constants + "/ragged";
    EXPECT_THROW(split_kv_merge_inputs(merge_case(id)), UsageError) << id;
  }
}

}  // namespace
}  // namespace parity
