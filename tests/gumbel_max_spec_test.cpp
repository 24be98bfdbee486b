// The spec of gumbel_max_sample: smoke covers what it must, recipes hold what their names say, and
// cases tell right from wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/case.hpp"
#include "harness/judge.hpp"
#include "harness/kernels/gumbel_max_sample_expectation.hpp"
#include "harness/pack_builder.hpp"
#include "tests/kernel_run.hpp"
#include "tests/struck_pair.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Case gumbel_case(const std::string& id) {
  return parse_case(registry(), "gumbel_max_sample/" + id);
}

std::vector<Case> smoke_cases() {
  std::vector<Case> cases = suite_cases(registry(), Suite::smoke);
  std::erase_if(cases, [](const Case& c) { return c.spec->name != "gumbel_max_sample"; });
  return cases;
}

TEST(GumbelMaxSpecTest, SmokeIsSixCasesOfEveryDtypeEachWithATwin) {
  const std::vector<Case> cases = smoke_cases();
  EXPECT_EQ(cases.size(), 6u);
  std::set<Dtype> dtypes;
  std::set<std::string> recipes;
  for (const Case& a : cases) {
    dtypes.insert(a.dtype("logits"));
    recipes.insert(a.recipe);
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const Case& b) {
      return a.constants == b.constants && a.recipe == b.recipe &&
             test::dtypes_that_differ(a, b) == 1;
    })) << a.id();
  }
  EXPECT_EQ(dtypes.size(), 3u);
  EXPECT_EQ(recipes, (std::set<std::string>{"plain", "duel", "edges"}));
}

/// build_case refuses a case in which a plausible wrong answer would pass, or in which fewer than
/// nine rows in ten can be checked.
TEST(GumbelMaxSpecTest, CasesTellRightFromWrong) {
  for (const Case& c : smoke_cases()) EXPECT_NO_THROW(build_case(c)) << c.id();
  for (const char* id :
       {"logits=f32/v=1,b=1,splits=1/plain", "logits=f32/v=2,b=1,splits=1/edges",
        "logits=bf16/v=257,b=64,splits=1/plain", "logits=f16/v=4096,b=1,splits=1/flat",
        "logits=f32/v=256,b=64,splits=1/duel", "logits=bf16/v=8192,b=64,splits=1/duel",
        "logits=f16/v=8192,b=64,splits=1/duel", "logits=f16/v=1,b=12,splits=1/edges"})
    EXPECT_NO_THROW(build_case(gumbel_case(id))) << id;
}

TEST(GumbelMaxSpecTest, FaultsThatRowsCanTellAreAskedFor) {
  using Names = std::set<std::string>;
  const Names all = {"all_refused", "index_off_by_one",    "noise_dropped",
                     "next_step",   "temperature_ignored", "noise_in_logits_dtype"};
  Names of_f32 = all;
  of_f32.erase("noise_in_logits_dtype");
  EXPECT_EQ(wrong_answers_of("gumbel_max_sample/logits=bf16/v=256,b=64,splits=1/duel"), all);
  EXPECT_EQ(wrong_answers_of("gumbel_max_sample/logits=f16/v=256,b=64,splits=1/duel"), all);
  EXPECT_EQ(wrong_answers_of("gumbel_max_sample/logits=f32/v=256,b=64,splits=1/duel"), of_f32);
  EXPECT_EQ(wrong_answers_of("gumbel_max_sample/logits=f32/v=256,b=64,splits=1/plain"), of_f32);
  EXPECT_EQ(wrong_answers_of("gumbel_max_sample/logits=f32/v=33,b=12,splits=1/edges"),
            (Names{"all_refused", "index_off_by_one", "nan_skipped"}));
  EXPECT_EQ(wrong_answers_of("gumbel_max_sample/logits=f32/v=1,b=1,splits=1/plain"),
            Names{"all_refused"});
}

/// A duel is for this: one row in twelve at least changes when the noise is rounded once.
TEST(GumbelMaxSpecTest, ADuelTellsNoiseThatWasRoundedInManyRows) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    const Case c =
        gumbel_case("logits=" + std::string(name(dtype)) + "/v=2049,b=128,splits=1/duel");
    const TensorList inputs = c.spec->inputs(c);
    const std::vector<GumbelMaxRow> right = gumbel_max_sample_rows(inputs);
    const std::vector<GumbelMaxRow> rounded =
        gumbel_max_sample_rows(inputs, {.noise_dtype = dtype});
    int differ = 0, close = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      differ += right[i].token != rounded[i].token ? 1 : 0;
      close += right[i].rivals.empty() ? 0 : 1;
    }
    EXPECT_GE(differ, 11) << name(dtype);
    EXPECT_LE(close, 6) << name(dtype);
  }
}

/// What is expected where two tokens cannot be told apart, and where three cannot.
TEST(GumbelMaxSpecTest, RowsThatCannotBeCheckedAllowTheirRivals) {
  const Case c = gumbel_case("logits=f32/v=3,b=20,splits=1/flat");
  TensorList inputs = c.spec->inputs(c);
  Tensor& logits = find(inputs, "logits");
  const auto tie = [&](std::int64_t row, std::int64_t tokens) {
    const std::uint64_t seed = find(inputs, "seed").bits_at(row);
    const std::uint64_t step = find(inputs, "step").bits_at(row);
    const double temperature = find(inputs, "temperature").at(row);
    for (std::int64_t i = 0; i < 3; ++i)
      logits.set(row * 3 + i,
                 i < tokens ? -temperature * gumbel_noise(gumbel_word(seed, step, i)) : -kInfinity);
  };
  tie(4, 2);
  tie(7, 3);
  ReferenceResult result = gumbel_max_sample_expectation(c, inputs);
  EXPECT_EQ(result.refused, "") << "18 of 20";
  const PackOutput& token = result.outputs[0];
  EXPECT_EQ(std::set<double>({token.expected->at(4), token.bound->at(4)}),
            (std::set<double>{0, 1}));
  EXPECT_TRUE(std::isnan(token.bound->at(7)));
  EXPECT_EQ(token.bound->at(5), token.expected->at(5));
  tie(9, 2);
  EXPECT_EQ(gumbel_max_sample_expectation(c, inputs).refused.substr(0, 22),
            "only 17 of its 20 rows");
}

TEST(GumbelMaxSpecTest, EdgesHoldWhatTheirRowsAreFor) {
  const Case c = gumbel_case("logits=bf16/v=257,b=24,splits=1/edges");
  const std::vector<GumbelMaxRow> rows = gumbel_max_sample_rows(c.spec->inputs(c));
  for (const std::size_t refused : {1u, 4u, 5u, 6u, 7u, 9u, 11u, 13u, 16u, 23u})
    EXPECT_EQ(rows[refused].token, -1) << refused;
  EXPECT_EQ(rows[2].token, 128) << "the first infinity";
  EXPECT_EQ(rows[3].token % 7, 3) << "all others are masked";
  EXPECT_EQ(rows[8].token, 128) << "the first of two largest";
  EXPECT_EQ(rows[10].token, 256) << "the only one";
}

TEST(GumbelMaxSpecTest, InputsAreReproducible) {
  for (const Case& c : smoke_cases()) {
    const TensorList first = c.spec->inputs(c);
    const TensorList second = c.spec->inputs(c);
    ASSERT_EQ(first.size(), 4u);
    for (std::size_t i = 0; i < first.size(); ++i)
      EXPECT_EQ(first[i].tensor, second[i].tensor) << c.id() << ' ' << first[i].name;
  }
}

TEST(GumbelMaxSpecTest, ShapesThatAreNoCaseAreRefused) {
  for (const char* id :
       {"logits=f32/v=0,b=1,splits=1/plain", "logits=f32/v=8,b=0,splits=1/plain",
        "logits=f32/v=8,b=1,splits=65/plain", "logits=f32/v=255,b=64,splits=1/duel",
        "logits=f32/v=256,b=63,splits=1/duel", "logits=f32/v=1048577,b=1,splits=1/plain"})
    EXPECT_THROW(require_valid(gumbel_case(id)), UsageError) << id;
}

}  // namespace
}  // namespace parity
