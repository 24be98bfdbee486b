// Golden data held against golden data, on cases made up for it.
#include "harness/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "datasets/fill.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Lines = std::vector<std::string>;

Tensor normals(Dtype dtype, Shape shape, std::string_view name) {
  Tensor tensor(dtype, std::move(shape));
  fill_normal(tensor, 5, name);
  return tensor;
}

PackInput input(std::string name, Tensor tensor) {
  const Digest sum = digest(tensor);
  return {std::move(name), tensor.type(), sum, std::move(tensor)};
}

PackCase attention() {
  PackCase result{"k/q=f16/d=4/plain", "attend", "plain", 7, {}, {}};
  result.reference = "1";
  result.inputs.push_back(input("q", normals(Dtype::f16, {3, 4}, "q")));
  Tensor step(Dtype::u64, {2});
  step.set(0, 5);
  result.inputs.push_back(input("step", std::move(step)));
  PackOutput out{"out", {Dtype::f16, {3, 4}}, OutputRule::rows, {}, {}};
  out.expected = normals(Dtype::f64, {3, 4}, "out");
  out.bound = Tensor(Dtype::f64, {3, 4});
  for (std::int64_t i = 0; i < 12; ++i) out.bound->set(i, 1e-6 * static_cast<double>(i));
  PackOutput lse{"lse", {Dtype::f32, {3}}, OutputRule::log_sum_exp, {}, {}};
  lse.expected = Tensor(Dtype::f64, {3});
  lse.expected->set(0, 1e-9);
  lse.expected->set(1, -kInfinity);
  lse.expected->set(2, 1000);
  lse.bound = Tensor(Dtype::f64, {3});
  result.outputs = {out, lse};
  return result;
}

Tensor& expected(PackCase& c, std::size_t output) {
  return *c.outputs.at(output).expected;
}

/// Adds `error` to one expected value, as a share of `of`.
PackCase with_error(std::size_t output, std::int64_t index, double error, double of) {
  PackCase changed = attention();
  Tensor& tensor = expected(changed, output);
  tensor.set(index, tensor.at(index) + error * of);
  return changed;
}

double row_norm(std::int64_t row) {
  PackCase c = attention();
  double squares = 0;
  for (std::int64_t i = 4 * row; i < 4 * row + 4; ++i)
    squares += expected(c, 0).at(i) * expected(c, 0).at(i);
  return std::sqrt(squares);
}

TEST(GoldenTest, TheSameCaseHasNoDifference) {
  EXPECT_EQ(verify_case(attention(), attention()), Lines{});
  EXPECT_EQ(diff_cases(attention(), attention()), Lines{});
}

TEST(GoldenTest, ARowMayBeOffByATrillionthOfItsNorm) {
  EXPECT_EQ(verify_case(attention(), with_error(0, 6, 0.9e-12, row_norm(1))), Lines{});
  const Lines lines = verify_case(attention(), with_error(0, 6, 1.2e-12, row_norm(1)));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with("expected out: 1 of 3 rows differ, most at out[1,2]: "))
      << lines[0];
  EXPECT_TRUE(lines[0].ends_with(" computed (row error 1.2e-12 > 1e-12)")) << lines[0];
  EXPECT_EQ(diff_cases(attention(), with_error(0, 6, 1e-15, row_norm(1))).size(), 1u)
      << "between files every bit counts";
}

TEST(GoldenTest, ALogSumExpMayBeOffByATrillionthOfItsSizeOrOfOne) {
  EXPECT_EQ(verify_case(attention(), with_error(1, 0, 0.9e-12, 1)), Lines{});
  EXPECT_EQ(verify_case(attention(), with_error(1, 2, 0.9e-12, 1000)), Lines{});
  EXPECT_EQ(verify_case(attention(), with_error(1, 0, 1.1e-12, 1)).size(), 1u);
  EXPECT_EQ(verify_case(attention(), with_error(1, 2, 1.1e-12, 1000)).size(), 1u);
}

TEST(GoldenTest, AnotherKindOfValueIsNeverClose) {
  for (const double other : {kNan, kInfinity, 0.0}) {
    PackCase changed = attention();
    expected(changed, 1).set(1, other);
    const Lines lines = verify_case(attention(), changed);
    ASSERT_EQ(lines.size(), 1u) << other;
    EXPECT_NE(lines[0].find("lse[1]: -inf in the file"), std::string::npos) << lines[0];
    EXPECT_EQ(verify_case(changed, attention()).size(), 1u) << other;
  }
  PackCase nan = attention();
  expected(nan, 0).set(3, kNan);
  EXPECT_EQ(verify_case(nan, nan), Lines{}) << "a NaN is what is expected";
  EXPECT_EQ(verify_case(nan, attention()).size(), 1u);
  EXPECT_EQ(verify_case(attention(), nan).size(), 1u);
}

TEST(GoldenTest, AZeroRowIsExactlyZero) {
  PackCase zero = attention();
  for (std::int64_t i = 0; i < 4; ++i) expected(zero, 0).set(i, 0);
  PackCase tiny = zero;
  expected(tiny, 0).set(2, 1e-300);
  EXPECT_EQ(verify_case(zero, zero), Lines{});
  EXPECT_EQ(verify_case(zero, tiny).size(), 1u);
}

TEST(GoldenTest, BoundsAreHeldToTheirOwnSize) {
  PackCase changed = attention();
  changed.outputs[0].bound->set(5, 5e-6 * (1 + 0.9e-12));
  EXPECT_EQ(verify_case(attention(), changed), Lines{});
  changed.outputs[0].bound->set(5, 5e-6 * (1 + 1.2e-12));
  const Lines lines = verify_case(attention(), changed);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("bound of out: 1 of 12 elements differ, most at out[1,1]"),
            std::string::npos)
      << lines[0];
}

TEST(GoldenTest, IntegerOutputsAreExact) {
  PackCase tokens = attention();
  tokens.outputs[0].type.dtype = Dtype::i32;
  PackCase changed = tokens;
  expected(changed, 0).set(6, std::nextafter(expected(tokens, 0).at(6), kInfinity));
  EXPECT_EQ(verify_case(tokens, tokens), Lines{});
  EXPECT_EQ(verify_case(tokens, changed).size(), 1u);
}

TEST(GoldenTest, OneBitOfAnInputIsSeenAndPlaced) {
  PackCase changed = attention();
  changed.inputs[0].data->bytes()[2 * 9] ^= std::byte{1};
  changed.inputs[0].digest = digest(*changed.inputs[0].data);
  const Lines lines = verify_case(attention(), changed);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("input q: 1 of 12 elements differ, most at q[2,1]: "), std::string::npos)
      << lines[0];
  PackCase by_recipe = attention();
  by_recipe.inputs[0].data.reset();
  EXPECT_EQ(verify_case(by_recipe, attention()), Lines{});
  const Lines digests = verify_case(by_recipe, changed);
  ASSERT_EQ(digests.size(), 1u);
  EXPECT_NE(digests[0].find("digest of input q (its elements are not stored): "),
            std::string::npos);
}

/// A double would hold neither.
TEST(GoldenTest, SixtyFourBitIntegersAreShownWhole) {
  PackCase changed = attention();
  for (std::byte& byte : changed.inputs[1].data->bytes()) byte = std::byte{0xff};
  changed.inputs[1].digest = digest(*changed.inputs[1].data);
  const Lines lines = diff_cases(attention(), changed);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("5 in A, 18446744073709551615 in B"), std::string::npos) << lines[0];
}

TEST(GoldenTest, EachFieldIsCompared) {
  const std::vector<std::pair<std::string, void (*)(PackCase&)>> changes = {
      {"operation", [](PackCase& c) { c.operation = "other"; }},
      {"recipe", [](PackCase& c) { c.recipe = "other"; }},
      {"seed", [](PackCase& c) { c.seed += 1; }},
      {"version of the reference", [](PackCase& c) { c.reference = "2"; }},
      {"inputs", [](PackCase& c) { c.inputs.pop_back(); }},
      {"inputs", [](PackCase& c) { std::swap(c.inputs[0], c.inputs[1]); }},
      {"outputs", [](PackCase& c) { c.outputs[1].name = "other"; }},
      {"type of input q",
       [](PackCase& c) {
         c.inputs[0].type.shape = {4, 3};
       }},
      {"type of output out", [](PackCase& c) { c.outputs[0].type.dtype = Dtype::bf16; }},
      {"rule of output lse", [](PackCase& c) { c.outputs[1].rule = OutputRule::rows; }},
      {"expected out", [](PackCase& c) { c.outputs[0].expected.reset(); }},
      {"bound of lse", [](PackCase& c) { c.outputs[1].bound.reset(); }},
  };
  for (const auto& [field, change] : changes) {
    PackCase changed = attention();
    change(changed);
    for (const Lines& lines :
         {verify_case(changed, attention()), diff_cases(attention(), changed)}) {
      ASSERT_EQ(lines.size(), 1u) << field;
      EXPECT_TRUE(lines[0].starts_with(field + ": ")) << lines[0];
    }
  }
}

TEST(GoldenTest, ASampleIsChosenByTheSeedAlone) {
  Lines ids;
  for (int i = 0; i < 64; ++i) ids.push_back("case/" + std::to_string(i));
  const Lines first = sample_of(ids, 8, 0);
  ASSERT_EQ(first.size(), 8u);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 8u);
  EXPECT_TRUE(std::ranges::is_sorted(first, {}, [&](const std::string& id) {
    return std::ranges::find(ids, id) - ids.begin();
  })) << "in the file's order";
  EXPECT_EQ(sample_of(ids, 8, 0), first);
  EXPECT_NE(sample_of(ids, 8, 1), first);
  EXPECT_EQ(sample_of(ids, 64, 3), ids);
  EXPECT_EQ(sample_of(ids, 1000, 3), ids);
  // Any case is reached by some seed.
  std::set<std::string> reached;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    for (const std::string& id : sample_of(ids, 8, seed)) reached.insert(id);
  EXPECT_EQ(reached.size(), ids.size());
}

}  // namespace
}  // namespace parity
