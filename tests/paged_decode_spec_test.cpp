// The specs of paged decode kernels: their smoke cases cover what they must, and their inputs are
// reproducible.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"
#include "device/variant.hpp"
#include "harness/case.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"
#include "harness/pack_builder.hpp"

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

std::int64_t dtypes_that_differ(const Case& a, const Case& b) {
  return std::inner_product(a.dtypes.begin(), a.dtypes.end(), b.dtypes.begin(), std::int64_t{0},
                            std::plus<>(), std::not_equal_to<>());
}

TEST(PagedDecodeSpecTest, SmokeHasDifferentCasesThatParseBack) {
  const std::vector<Case> cases = smoke_cases();
  std::set<std::string> ids;
  for (const Case& c : cases) {
    EXPECT_EQ(parse_case(registry(), c.id()), c);
    ids.insert(c.id());
  }
  EXPECT_EQ(cases.size(), 48u);
  EXPECT_EQ(ids.size(), 48u);
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
    dtypes.insert(c.dtypes);
    groups.insert(c.constant("hq") / c.constant("hkv"));
    recipes.insert(c.recipe);
  }
  EXPECT_EQ(dtypes.size(), 27u);
  EXPECT_EQ(groups, (std::set<std::int64_t>{1, 2, 4, 5, 8}));
  EXPECT_EQ(values_of(cases, "d"), (std::set<std::int64_t>{64, 96, 128, 256}));
  EXPECT_EQ(values_of(cases, "page"), (std::set<std::int64_t>{1, 8, 16, 32}));
  EXPECT_EQ(recipes, (std::set<std::string>{"ragged", "exact", "offset", "short", "empty", "nan"}));
}

TEST(PagedDecodeSpecTest, SmokeCoversEveryPagesPerChunk) {
  std::vector<Case> cases = smoke_cases();
  std::erase_if(cases, [](const Case& c) { return c.spec->name != "paged_decode_v2"; });
  EXPECT_EQ(values_of(cases, "ppc"), (std::set<std::int64_t>{0, 1, 2, 3, 4, 7, 16, 64, 100000}));
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
  EXPECT_EQ(geometries.size(), 16u) << "four head dims, four group buckets";
  for (const auto& [cell, dtypes] : cells) EXPECT_GE(dtypes.size(), 2u) << cell.first;
}

TEST(PagedDecodeSpecTest, AutoIsWrittenAsSuch) {
  const std::string_view id =
      "paged_decode_v2/q=f32,k=f32,v=f32/d=64,hq=4,hkv=2,page=1,ppc=auto/exact";
  const Case c = parse_case(registry(), id);
  EXPECT_EQ(c.constant("ppc"), 0);
  EXPECT_EQ(c.id(), id);
  EXPECT_THROW(parse_case(registry(),
                          "paged_decode_v2/q=f32,k=f32,v=f32/d=64,hq=4,hkv=2,page=1,ppc=0/exact"),
               UsageError);
}

TEST(PagedDecodeSpecTest, BothVersionsAtEveryPagesPerChunkShareInputsAndAnswers) {
  const auto build = [](std::string_view kernel, std::string_view ppc) {
    return build_case(parse_case(registry(), std::string(kernel) +
                                                 "/q=f16,k=bf16,v=f32/d=64,hq=4,hkv=2,page=8" +
                                                 std::string(ppc) + "/ragged"));
  };
  const PackCase v1 = build("paged_decode_v1", "");
  for (const char* ppc : {",ppc=1", ",ppc=7", ",ppc=auto"}) {
    const PackCase v2 = build("paged_decode_v2", ppc);
    ASSERT_EQ(v2.inputs.size(), v1.inputs.size());
    for (std::size_t i = 0; i < v1.inputs.size(); ++i)
      EXPECT_EQ(v2.inputs[i].digest, v1.inputs[i].digest) << v1.inputs[i].name;
    for (std::size_t i = 0; i < v1.outputs.size(); ++i)
      EXPECT_EQ(v2.outputs[i].expected, v1.outputs[i].expected) << v1.outputs[i].name;
  }
}

TEST(PagedDecodeSpecTest, EveryGeometryHasTwoCasesThatDifferInOneDtype) {
  const std::vector<Case> cases = smoke_cases();
  for (const Case& a : cases)
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const Case& b) {
      return a.spec == b.spec && geometry(a) == geometry(b) && dtypes_that_differ(a, b) == 1;
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
    const std::vector<PagedRow> ragged = paged_decode_rows("ragged", page);
    for (const std::int64_t tokens : {0, 1})
      EXPECT_TRUE(std::ranges::any_of(ragged, [&](PagedRow r) { return r.tokens == tokens; }));
  }
  EXPECT_THROW(paged_decode_rows("nought", 16), UsageError);
}

}  // namespace
}  // namespace parity
