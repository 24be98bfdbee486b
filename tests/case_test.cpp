// Ids, suites, filters, seeds and distances of cases.
#include "harness/case.hpp"

#include <gtest/gtest.h>

#include <set>

#include "datasets/errors.hpp"
#include "tests/toy_kernel.hpp"

namespace parity {
namespace {

constexpr const char* kId = "toy_v1/x=bf16,w=f16/rows=3,n=8,splits=2/plain";

class CaseTest : public ::testing::Test {
 protected:
  Case parse(std::string_view id) const { return parse_case(kernels_, id); }

  std::string refusal(std::string_view id) const {
    try {
      parse(id);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  const std::vector<KernelSpec> kernels_ = {toy_spec()};
};

TEST_F(CaseTest, IdParsesBackToTheCase) {
  const Case c = parse(kId);
  EXPECT_EQ(c.id(), kId);
  EXPECT_EQ(parse(c.id()), c);
  EXPECT_EQ(c.dtype("w"), Dtype::f16);
  EXPECT_EQ(c.constant("splits"), 2);
  EXPECT_EQ(c.recipe, "plain");
}

TEST_F(CaseTest, MalformedIdsAreRefusedInOneLineThatSaysWhatIsKnown) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"", "four parts, found 1"},
      {"toy_v1", "four parts, found 1"},
      {"toy_v1/x=f32,w=f32/rows=3,n=8,splits=1/plain/more", "four parts, found 5"},
      {"tay/x=f32,w=f32/rows=3,n=8,splits=1/plain", "known: toy_v1"},
      {"toy_v1/w=f32,x=f32/rows=3,n=8,splits=1/plain", "the dtypes are x,w, each once and in this"},
      {"toy_v1/x=f32,x=f32/rows=3,n=8,splits=1/plain", "the dtypes are x,w"},
      {"toy_v1/x=f32,w=f32,w=f32/rows=3,n=8,splits=1/plain", "the dtypes are x,w"},
      {"toy_v1/x=f32/rows=3,n=8,splits=1/plain", "no value for 'w'"},
      {"toy_v1//rows=3,n=8,splits=1/plain", "no value for 'x'"},
      {"toy_v1/x=f32,w/rows=3,n=8,splits=1/plain", "'w' is not name=value"},
      {"toy_v1/x=f32,w=f32,/rows=3,n=8,splits=1/plain", "'' is not name=value"},
      {"toy_v1/x=f64,w=f32/rows=3,n=8,splits=1/plain", "x is one of f32, f16, bf16"},
      {"toy_v1/x=,w=f32/rows=3,n=8,splits=1/plain", "x is one of f32, f16, bf16"},
      {"toy_v1/x=f32,w=f32/n=8,rows=3,splits=1/plain", "the constants are rows,n,splits"},
      {"toy_v1/x=f32,w=f32/rows=3,n=8/plain", "no value for 'splits'"},
      {"toy_v1/x=f32,w=f32/rows=03,n=8,splits=1/plain", "rows=03 is not a whole number"},
      {"toy_v1/x=f32,w=f32/rows=-3,n=8,splits=1/plain", "rows=-3 is not a whole number"},
      {"toy_v1/x=f32,w=f32/rows=+3,n=8,splits=1/plain", "rows=+3 is not a whole number"},
      {"toy_v1/x=f32,w=f32/rows=3x,n=8,splits=1/plain", "rows=3x is not a whole number"},
      {"toy_v1/x=f32,w=f32/rows=,n=8,splits=1/plain", "rows= is not a whole number"},
      {"toy_v1/x=f32,w=f32/rows=9223372036854775808,n=8,splits=1/plain", "not a whole number"},
      {"toy_v1/x=f32,w=f32/rows=3,n=8,splits=1/", "known: plain, zeros"},
      {"toy_v1/x=f32,w=f32/rows=3,n=8,splits=1/Plain", "known: plain, zeros"},
      {"toy_v1/x=f32,w=f32/rows=3,n=8,splits=1/pla in", "only letters, digits"},
      {"toy_v1/x=f32,w=f32/rows=3,n=8,splits=1/plain\n", "only letters, digits"},
      {"*", "only letters, digits"},
  };
  for (const auto& [id, reason] : refused) {
    const std::string what = refusal(id);
    EXPECT_NE(what.find(reason), std::string::npos) << id << " -> " << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << id;
  }
}

TEST_F(CaseTest, LargestNumberAndZeroParse) {
  const Case c = parse("toy_v1/x=f32,w=f32/rows=0,n=9223372036854775807,splits=1/plain");
  EXPECT_EQ(c.constant("rows"), 0);
  EXPECT_EQ(c.constant("n"), 9223372036854775807);
}

/// A difference of 2^63 is no number of 64 bits.
TEST_F(CaseTest, TheLargestNumberIsNoWordOfAnAxisWhoseWordsBeginBelowZero) {
  KernelSpec words = toy_spec();
  words.constants[2].words = {"tuned", "auto"};
  words.constants[2].first_word = -1;
  const std::vector<KernelSpec> kernels = {words};
  const std::string id = "toy_v1/x=f32,w=f32/rows=3,n=8,splits=9223372036854775807/plain";
  EXPECT_EQ(parse_case(kernels, id).constant("splits"), 9223372036854775807);
  EXPECT_EQ(parse_case(kernels, id).id(), id);
  EXPECT_EQ(
      parse_case(kernels, "toy_v1/x=f32,w=f32/rows=3,n=8,splits=tuned/plain").constant("splits"),
      -1);
  EXPECT_THROW(parse_case(kernels, "toy_v1/x=f32,w=f32/rows=3,n=8,splits=0/plain"), UsageError);
}

TEST_F(CaseTest, KernelWithoutAxesHasEmptyParts) {
  KernelSpec bare = toy_spec();
  bare.dtypes.clear();
  bare.constants.clear();
  const std::vector<KernelSpec> kernels = {bare};
  EXPECT_EQ(parse_case(kernels, "toy_v1///plain").id(), "toy_v1///plain");
  EXPECT_THROW(parse_case(kernels, "toy_v1/x=f32//plain"), UsageError);
  EXPECT_THROW(parse_case(kernels, "toy_v1//n=1/plain"), UsageError);
  EXPECT_THROW(parse_case(kernels, "toy_v1/plain"), UsageError);
}

TEST_F(CaseTest, UnknownAxisIsAUsageError) {
  EXPECT_THROW(parse(kId).dtype("v"), UsageError);
  EXPECT_THROW(parse(kId).constant("page"), UsageError);
}

TEST_F(CaseTest, SeedIgnoresKernelNameAndScheduleAxesOnly) {
  KernelSpec v2 = toy_spec();
  v2.name = "toy_v2";
  const std::vector<KernelSpec> other = {v2};
  const std::uint64_t seed = parse(kId).data_seed();
  EXPECT_EQ(seed, parse("toy_v1/x=bf16,w=f16/rows=3,n=8,splits=1/plain").data_seed());
  EXPECT_EQ(seed, parse_case(other, "toy_v2/x=bf16,w=f16/rows=3,n=8,splits=2/plain").data_seed());
  EXPECT_NE(seed, parse("toy_v1/x=bf16,w=f16/rows=3,n=16,splits=2/plain").data_seed());
  EXPECT_NE(seed, parse("toy_v1/x=bf16,w=f32/rows=3,n=8,splits=2/plain").data_seed());
  EXPECT_NE(seed, parse("toy_v1/x=bf16,w=f16/rows=3,n=8,splits=2/zeros").data_seed());
}

TEST_F(CaseTest, DegenerateIsWhatTheSpecLists) {
  EXPECT_FALSE(parse(kId).degenerate());
  EXPECT_TRUE(parse("toy_v1/x=bf16,w=f16/rows=3,n=8,splits=2/zeros").degenerate());
}

TEST_F(CaseTest, CostIsBytesOfInputsAndOutputs) {
  // x 2·3·8, w 2·8, y 2·3·8, lse 4·3
  EXPECT_EQ(cost(parse(kId)), 48 + 16 + 48 + 12);
  EXPECT_THROW(cost(parse("toy_v1/x=f32,w=f32/rows=3,n=0,splits=1/plain")), UsageError);
}

TEST_F(CaseTest, DistanceWeighsKernelThenConstantsThenRecipeThenDtypes) {
  KernelSpec v2 = toy_spec();
  v2.name = "toy_v2";
  const std::vector<KernelSpec> other = {v2};
  const Case victim = parse(kId);
  const int dtypes = distance(victim, parse("toy_v1/x=f32,w=f32/rows=3,n=8,splits=2/plain"));
  const int recipe = distance(victim, parse("toy_v1/x=bf16,w=f16/rows=3,n=8,splits=2/zeros"));
  const int constant = distance(victim, parse("toy_v1/x=bf16,w=f16/rows=1,n=8,splits=2/plain"));
  const int two = distance(victim, parse("toy_v1/x=bf16,w=f16/rows=1,n=16,splits=2/plain"));
  const Case elsewhere = parse_case(other, "toy_v2/x=bf16,w=f16/rows=3,n=8,splits=2/plain");
  EXPECT_EQ(distance(victim, victim), 0);
  EXPECT_LT(0, dtypes);
  EXPECT_LT(dtypes, recipe);
  EXPECT_LT(recipe, constant);
  EXPECT_LT(constant, two);
  EXPECT_LT(two, distance(victim, elsewhere));
  EXPECT_EQ(distance(victim, elsewhere), distance(elsewhere, victim));
}

TEST_F(CaseTest, AValueThatIsNoCaseIsRefusedWithTheReason) {
  try {
    require_valid(parse("toy_v1/x=f32,w=f32/rows=3,n=0,splits=1/plain"));
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "case 'toy_v1/x=f32,w=f32/rows=3,n=0,splits=1/plain': n must be at least 1");
  }
}

TEST_F(CaseTest, FullHasPublishedCasesWhoseRecipesAreNotCombined) {
  std::vector<KernelSpec> kernels = {toy_spec()};
  kernels[0].uncombined_recipes = {"zeros"};
  kernels[0].published = {"toy_v1/x=f32,w=f32/rows=1,n=4096,splits=1/zeros"};
  std::vector<std::string> zeros;
  for (const Case& c : suite_cases(kernels, Suite::full))
    if (c.recipe == "zeros") zeros.push_back(c.id());
  EXPECT_EQ(zeros, kernels[0].published);
  for (const Case& c : suite_cases(kernels, Suite::smoke)) EXPECT_NE(c.recipe, "zeros");
}

TEST_F(CaseTest, ARequirementOfAnUnknownAxisIsNamed) {
  std::vector<KernelSpec> kernels = {toy_spec()};
  kernels[0].requirements.push_back({{"colour"}, "", [](const Case&) { return true; }});
  try {
    suite_cases(kernels, Suite::full);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'colour'"), std::string::npos) << error.what();
  }
}

TEST_F(CaseTest, SuiteNamesAreSmokeAndFull) {
  EXPECT_EQ(parse_suite("smoke"), Suite::smoke);
  EXPECT_EQ(parse_suite("full"), Suite::full);
  EXPECT_THROW(parse_suite("Full"), UsageError);
}

TEST_F(CaseTest, FullIsSmokeThenEveryPairOfValuesWithoutDuplicates) {
  const std::vector<Case> smoke = suite_cases(kernels_, Suite::smoke);
  const std::vector<Case> full = suite_cases(kernels_, Suite::full);
  ASSERT_EQ(smoke.size(), 2u);
  EXPECT_EQ(smoke[0].id(), kernels_[0].smoke[0]);
  ASSERT_GT(full.size(), 2u);
  EXPECT_EQ(full[0], smoke[0]);
  EXPECT_EQ(full[1], smoke[1]);
  std::set<std::string> ids;
  bool pair_occurs = false;
  for (const Case& c : full) {
    ids.insert(c.id());
    pair_occurs = pair_occurs || (c.dtype("x") == Dtype::f16 && c.recipe == "zeros");
    EXPECT_EQ(parse(c.id()), c);
  }
  EXPECT_EQ(ids.size(), full.size());
  EXPECT_TRUE(pair_occurs);
}

TEST_F(CaseTest, FullLeavesOutWhatTheSpecCallsNoCase) {
  std::vector<KernelSpec> kernels = {toy_spec()};
  kernels[0].requirements = {{{"x", "n"}, "f16 needs n = 16", [](const Case& c) {
                                return c.dtype("x") != Dtype::f16 || c.constant("n") == 16;
                              }}};
  bool with_16 = false;
  for (const Case& c : suite_cases(kernels, Suite::full)) {
    EXPECT_TRUE(c.dtype("x") != Dtype::f16 || c.constant("n") == 16) << c.id();
    with_16 = with_16 || c.dtype("x") == Dtype::f16;
  }
  EXPECT_TRUE(with_16);
}

TEST_F(CaseTest, FiltersAreFnmatchOverTheWholeId) {
  const std::vector<Case> full = suite_cases(kernels_, Suite::full);
  EXPECT_EQ(select(full, {}).size(), full.size());
  EXPECT_EQ(select(full, {full.back().id()}), (std::vector<Case>{full.back()}));
  for (const Case& c : select(full, {"*x=bf16*plain"})) {
    EXPECT_EQ(c.dtype("x"), Dtype::bf16);
    EXPECT_EQ(c.recipe, "plain");
  }
  EXPECT_THROW(select(full, {"x=bf16"}), UsageError);
  const std::vector<Case> not_zeros = select(full, {"!*/zeros"});
  EXPECT_LT(not_zeros.size(), full.size());
  for (const Case& c : not_zeros) EXPECT_EQ(c.recipe, "plain");
  EXPECT_EQ(select(full, {"*/zeros", "*/plain", "!*x=f[13]*"}).size(),
            select(full, {"*x=bf16*"}).size());
}

// E3: "0 of 0 passed" was green.
TEST_F(CaseTest, FilterThatMatchesNothingIsAUsageError) {
  const std::vector<Case> smoke = suite_cases(kernels_, Suite::smoke);
  try {
    select(smoke, {"*e4m3*"});
    FAIL() << "nothing was selected, and nobody said so";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("*e4m3*"), std::string::npos);
  }
  EXPECT_THROW(select(smoke, {"!*"}), UsageError);
}

}  // namespace
}  // namespace parity
