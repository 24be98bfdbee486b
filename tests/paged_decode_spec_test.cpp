// The specs of paged decode kernels: their smoke cases cover what they must, and their inputs are
// reproducible.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"
#include "device/variant.hpp"
#include "harness/case.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"
#include "harness/pack_builder.hpp"
#include "tests/struck_pair.hpp"

namespace parity {
namespace {

std::vector<Case> smoke_cases() {
  std::vector<Case> cases = suite_cases(registry(), Suite::smoke);
  std::erase_if(cases, [](const Case& c) { return c.spec->operation != "paged_decode"; });
  return cases;
}

std::set<std::int64_t> values_of(const std::vector<Case>& cases, std::string_view axis) {
  std::set<std::int64_t> values;
  for (const Case& c : cases) values.insert(c.constant(axis));
  return values;
}

/// "d=64,hq=8,hkv=2,page=16/ragged"
std::string geometry(const Case& c) {
  const std::string id = c.id();
  return id.substr(id.find('/', id.find('/') + 1) + 1);
}

TEST(PagedDecodeSpecTest, SmokeHasDifferentCasesThatParseBack) {
  const std::vector<Case> cases = smoke_cases();
  std::set<std::string> ids;
  for (const Case& c : cases) {
    EXPECT_EQ(parse_case(registry(), c.id()), c);
    ids.insert(c.id());
  }
  EXPECT_FALSE(cases.empty());
  EXPECT_EQ(ids.size(), cases.size());
}

TEST(PagedDecodeSpecTest, AllOfSmokeIsAtMostSixtyFourCases) {
  EXPECT_LE(suite_cases(registry(), Suite::smoke).size(), 64u);
}

TEST(PagedDecodeSpecTest, SmokeCoversDtypesShapesAndRecipes) {
  const std::vector<Case> cases = smoke_cases();
  std::set<std::vector<Dtype>> dtypes;
  std::set<std::int64_t> groups;
  std::set<std::string> recipes;
  for (const Case& c : cases) {
    const bool fp8 = std::ranges::any_of(c.dtypes, [](Dtype dtype) { return size_of(dtype) == 1; });
    if (!fp8 && c.dtype("out") == c.dtype("q")) dtypes.insert(c.dtypes);
    groups.insert(c.constant("hq") / c.constant("hkv"));
    recipes.insert(c.recipe);
  }
  EXPECT_EQ(dtypes.size(), 27u) << "f32, f16 and bf16 for each of q, k and v";
  EXPECT_TRUE(std::ranges::includes(groups, std::set<std::int64_t>{1, 2, 4, 5, 8}));
  EXPECT_TRUE(
      std::ranges::includes(values_of(cases, "d"), std::set<std::int64_t>{64, 96, 128, 256}));
  EXPECT_TRUE(
      std::ranges::includes(values_of(cases, "page"), std::set<std::int64_t>{1, 8, 16, 32}));
  EXPECT_EQ(recipes, (std::set<std::string>{"ragged", "exact", "offset", "short", "empty", "nan"}));
}

TEST(PagedDecodeSpecTest, SmokeCoversEveryPagesPerChunk) {
  std::vector<Case> cases = smoke_cases();
  std::erase_if(cases, [](const Case& c) { return c.spec->name != "paged_decode_v2"; });
  EXPECT_EQ(values_of(cases, "ppc"),
            (std::set<std::int64_t>{-1, 0, 1, 2, 3, 4, 7, 16, 64, 100000}));
}

/// A module cache keyed by constants alone must be caught wherever it is used.
TEST(PagedDecodeSpecTest, EveryModuleGeometryIsUsedAtTwoDtypes) {
  using Geometry = std::vector<std::pair<std::string, std::int64_t>>;
  std::map<std::pair<std::string, Geometry>, std::set<std::vector<Dtype>>> cells;
  std::set<Geometry> geometries;
  for (const Case& c : smoke_cases()) {
    if (c.recipe == "empty") continue;  // reads no pool
    const VariantSpec module = c.spec->modules(c).front();
    cells[{module.kernel, module.constants}].insert(c.dtypes);
    geometries.insert(module.constants);
  }
  EXPECT_GE(geometries.size(), 16u) << "four head dims, four group buckets";
  for (const auto& [cell, dtypes] : cells) EXPECT_GE(dtypes.size(), 2u) << cell.first;
}

TEST(PagedDecodeSpecTest, AutoAndTunedAreWrittenAsSuch) {
  const std::string_view id =
      "paged_decode_v2/q=f32,k=f32,v=f32/d=64,hq=4,hkv=2,page=1,ppc=auto/exact";
  const Case c = parse_case(registry(), id);
  EXPECT_EQ(c.constant("ppc"), 0);
  EXPECT_EQ(c.id(), id);
  const std::string_view tuned =
      "paged_decode_v2/q=f32,k=f32,v=f32/d=64,hq=4,hkv=2,page=1,ppc=tuned/exact";
  EXPECT_EQ(parse_case(registry(), tuned).constant("ppc"), -1);
  EXPECT_EQ(parse_case(registry(), tuned).id(), tuned);
  for (const char* ppc : {"0", "-1"})
    EXPECT_THROW(
        parse_case(registry(), "paged_decode_v2/q=f32,k=f32,v=f32/d=64,hq=4,hkv=2,page=1,ppc=" +
                                   std::string(ppc) + "/exact"),
        UsageError);
}

TEST(PagedDecodeSpecTest, BothVersionsAtEveryPagesPerChunkShareInputsAndAnswers) {
  const auto build = [](std::string_view kernel, std::string_view ppc) {
    return build_case(parse_case(registry(), std::string(kernel) +
                                                 "/q=f16,k=bf16,v=f32/d=64,hq=4,hkv=2,page=8" +
                                                 std::string(ppc) + "/ragged"));
  };
  const PackCase v1 = build("paged_decode_v1", "");
  for (const char* ppc : {",ppc=1", ",ppc=7", ",ppc=auto", ",ppc=tuned"}) {
    const PackCase v2 = build("paged_decode_v2", ppc);
    ASSERT_EQ(v2.inputs.size(), v1.inputs.size());
    for (std::size_t i = 0; i < v1.inputs.size(); ++i)
      EXPECT_EQ(v2.inputs[i].digest, v1.inputs[i].digest) << v1.inputs[i].name;
    for (std::size_t i = 0; i < v1.outputs.size(); ++i)
      EXPECT_EQ(v2.outputs[i].expected, v1.outputs[i].expected) << v1.outputs[i].name;
  }
}

/// The same dtypes and constants but for `axis`.
bool differ_alone_in(std::string_view axis, const Case& a, Case b) {
  const auto found = std::ranges::find(b.spec->constants, axis, &ConstantAxis::name);
  if (a.spec != b.spec || a == b) return false;
  b.constants[static_cast<std::size_t>(found - b.spec->constants.begin())] = a.constant(axis);
  return a == b;
}

/// In what a weak key of tuned plans, or of graphs, would leave out.
bool differ_in_a_key_alone(const Case& a, const Case& b) {
  const bool tuned = a.id().find("ppc=tuned") != std::string::npos;
  return (tuned && differ_alone_in("page", a, b)) ||
         (a.constant("graph") == 1 && differ_alone_in("layout", a, b));
}

TEST(PagedDecodeSpecTest, EveryGeometryHasTwoCasesThatDifferInOneDtype) {
  const std::vector<Case> cases = smoke_cases();
  for (const Case& a : cases)
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const Case& b) {
      return differ_in_a_key_alone(a, b) || (a.spec == b.spec && geometry(a) == geometry(b) &&
                                             test::dtypes_that_differ(a, b) == 1);
    })) << a.id();
}

/// Also refuses a case in which a plausible wrong answer would pass.
TEST(PagedDecodeSpecTest, EverySmokeCaseTellsRightFromWrong) {
  for (const Case& c : smoke_cases()) EXPECT_NO_THROW(build_case(c)) << c.id();
}

TEST(PagedDecodeSpecTest, TheLongRecipeTellsRightFromWrong) {
  EXPECT_NO_THROW(build_case(
      parse_case(registry(), "paged_decode_v1/q=bf16,k=bf16,v=bf16/d=64,hq=4,hkv=1,page=16/long")));
}

TEST(PagedDecodeSpecTest, InputsAreReproducible) {
  for (const Case& c : smoke_cases()) {
    const TensorList first = c.spec->inputs(c);
    const TensorList second = c.spec->inputs(c);
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t i = 0; i < first.size(); ++i)
      EXPECT_EQ(first[i].tensor, second[i].tensor) << c.id() << ' ' << first[i].name;
  }
}

TEST(PagedDecodeSpecTest, PagesArePermutedAndUsedOnce) {
  const Case c =
      parse_case(registry(), "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=1,hkv=1,page=1/ragged");
  const TensorList inputs = c.spec->inputs(c);
  const Tensor& indices = find(inputs, "page_indices");
  std::vector<double> pages;
  for (std::int64_t i = 0; i < indices.elements(); ++i) pages.push_back(indices.at(i));
  EXPECT_EQ(std::set<double>(pages.begin(), pages.end()).size(), pages.size());
  EXPECT_FALSE(std::ranges::is_sorted(pages));
  EXPECT_LT(static_cast<std::size_t>(pages.size()),
            static_cast<std::size_t>(find(inputs, "k_pages").shape()[0]))
      << "spare pages";
}

TEST(PagedDecodeSpecTest, TheNeedleIsAMultipleOfTheGroupsFirstQuery) {
  const Case c =
      parse_case(registry(), "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=4,hkv=2,page=1/exact");
  const TensorList inputs = c.spec->inputs(c);
  // Row 0 has 48 tokens of one page each.
  const auto page = static_cast<std::int64_t>(find(inputs, "page_indices").at(47));
  const double factor = find(inputs, "k_pages").at((page * 2 + 1) * 64) / find(inputs, "q").at(128);
  EXPECT_NEAR(factor, std::log(48.0) / (0.125 * 64), 0.01 * factor);
  EXPECT_NEAR(find(inputs, "k_pages").at((page * 2 + 1) * 64 + 9) / find(inputs, "q").at(137),
              factor, 1e-6);
}

TEST(PagedDecodeSpecTest, ShapesThatAreNoCaseAreRefused) {
  for (const char* constants :
       {"d=60,hq=4,hkv=1,page=16", "d=64,hq=4,hkv=3,page=16", "d=64,hq=4,hkv=0,page=16",
        "d=64,hq=4,hkv=1,page=0", "d=264,hq=4,hkv=1,page=16", "d=64,hq=0,hkv=1,page=16"}) {
    const std::string id =
        std::string("paged_decode_v1/q=f32,k=f32,v=f32/") + constants + "/ragged";
    EXPECT_THROW(paged_decode_inputs(parse_case(registry(), id)), UsageError) << id;
  }
}

TEST(PagedDecodeSpecTest, EveryRecipeHoldsWhatItsNameSays) {
  const auto all_of = [](std::string_view recipe, std::int64_t page, auto holds) {
    return std::ranges::all_of(paged_decode_rows(recipe, page), holds);
  };
  for (const std::int64_t page : {1, 8, 16, 32}) {
    EXPECT_TRUE(all_of("exact", page, [&](PagedRow r) { return r.tokens % page == 0; }));
    EXPECT_TRUE(all_of("empty", page, [](PagedRow r) { return r.tokens == 0; }));
    EXPECT_TRUE(
        all_of("offset", page, [&](PagedRow r) { return page == 1 || r.first_page_offset > 0; }));
    for (const std::string& recipe : paged_decode_recipes())
      EXPECT_TRUE(all_of(recipe, page, [&](PagedRow r) { return r.first_page_offset < page; }));
    EXPECT_TRUE(std::ranges::any_of(paged_decode_rows("context", page), [](PagedRow r) {
      return r.tokens > 4096;
    })) << "longer than the longest window";
    const std::vector<PagedRow> ragged = paged_decode_rows("ragged", page);
    for (const std::int64_t tokens : {0, 1})
      EXPECT_TRUE(std::ranges::any_of(ragged, [&](PagedRow r) { return r.tokens == tokens; }));
  }
  EXPECT_THROW(paged_decode_rows("nought", 16), UsageError);
}

}  // namespace
}  // namespace parity
