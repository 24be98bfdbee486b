// The spec of rejection_sample: its smoke cases cover what they must, its recipes hold what their
// names say, and its cases tell right from wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "datasets/errors.hpp"
#include "device/variant.hpp"
#include "harness/case.hpp"
#include "harness/kernels/rejection_sample_expectation.hpp"
#include "harness/kernels/rejection_sample_inputs.hpp"
#include "harness/pack_builder.hpp"
#include "tests/struck_pair.hpp"

namespace parity {
namespace {

Case rejection_case(const std::string& id) {
  return parse_case(registry(), "rejection_sample/" + id);
}

std::vector<Case> smoke_cases() {
  std::vector<Case> cases = suite_cases(registry(), Suite::smoke);
  std::erase_if(cases, [](const Case& c) { return c.spec->name != "rejection_sample"; });
  return cases;
}

std::set<std::string> wrong_answers_of(const std::string& id) {
  const Case c = rejection_case(id);
  std::set<std::string> names;
  for (const auto& [name, answer] :
       rejection_sample_expectation(c, rejection_sample_inputs(c)).wrong_answers)
    names.insert(name);
  return names;
}

TEST(RejectionSampleSpecTest, EverySmokeCaseHasATwinThatDiffersInOneDtype) {
  const std::vector<Case> cases = smoke_cases();
  ASSERT_EQ(cases.size(), 6u);
  for (const Case& a : cases)
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const Case& b) {
      return a.constants == b.constants && a.recipe == b.recipe &&
             test::dtypes_that_differ(a, b) == 1;
    })) << a.id();
}

/// build_case refuses a case in which a plausible wrong answer would pass.
TEST(RejectionSampleSpecTest, CasesTellRightFromWrong) {
  for (const Case& c : smoke_cases()) EXPECT_NO_THROW(build_case(c)) << c.id();
  for (const char* probs : {"f32", "f16", "bf16"})
    for (const char* shape : {"v=256,b=64,draw=probs,order=joint,splits=1/ordinary",
                              "v=4096,b=64,draw=none,order=top_k_first,splits=1/ordinary",
                              "v=33,b=128,draw=probs,order=joint,splits=1/extremes",
                              "v=1,b=2,draw=none,order=joint,splits=1/ordinary",
                              "v=257,b=3,draw=none,order=joint,splits=1/ties",
                              "v=2,b=1,draw=probs,order=top_k_first,splits=1/flat",
                              "v=2049,b=3,draw=none,order=joint,splits=1/peaked"}) {
      const std::string id = std::string("probs=") + probs + ",filter=f16/" + shape;
      EXPECT_NO_THROW(build_case(rejection_case(id))) << id;
    }
}

TEST(RejectionSampleSpecTest, PlausibleFaultsAreJudgedWhereRowsShowThem) {
  std::set<std::string> want = {"all_refused", "index_off_by_one"};
  EXPECT_EQ(wrong_answers_of("probs=f32,filter=f32/v=256,b=8,draw=none,order=joint,splits=1/"
                             "ordinary"),
            want);
  want.insert({"top_k_dropped", "top_p_dropped", "min_p_dropped", "next_step", "other_order"});
  EXPECT_EQ(wrong_answers_of("probs=f32,filter=f32/v=256,b=64,draw=none,order=joint,splits=1/"
                             "ordinary"),
            want);
  want.insert("temperature_first");
  EXPECT_EQ(wrong_answers_of("probs=f32,filter=f32/v=256,b=64,draw=probs,order=joint,splits=1/"
                             "ordinary"),
            want);
}

/// All on and off, and each extreme of one with each of the others.
TEST(RejectionSampleSpecTest, RowsHoldAllCombinationsOfFilters) {
  const auto combinations = [](const std::string& id) {
    const TensorList inputs = rejection_sample_inputs(rejection_case(id));
    std::set<std::tuple<double, double, double>> all;
    const auto shown = [](double x) { return std::isnan(x) ? -9.0 : x; };
    for (std::int64_t row = 0; row < find(inputs, "top_k").elements(); ++row)
      all.emplace(find(inputs, "top_k").at(row), shown(find(inputs, "top_p").at(row)),
                  shown(find(inputs, "min_p").at(row)));
    return all.size();
  };
  const std::string head = "probs=f32,filter=f16/v=31,b=";
  const std::string tail = ",draw=none,order=joint,splits=1/";
  EXPECT_EQ(combinations(head + "8" + tail + "ordinary"), 8u);
  EXPECT_EQ(combinations(head + "100" + tail + "extremes"), 100u);
}

TEST(RejectionSampleSpecTest, InvalidRowsStandAmongValidOnes) {
  for (const bool draw : {false, true}) {
    const Case c = rejection_case(std::string("probs=f16,filter=f32/v=33,b=8,draw=") +
                                  (draw ? "probs" : "none") + ",order=joint,splits=1/invalid");
    const ReferenceResult answer = rejection_sample_expectation(c, rejection_sample_inputs(c));
    const std::vector<double> ok = draw ? std::vector<double>{0, 1, 0, 0, 0, 0, 1, 0}
                                        : std::vector<double>{0, 1, 0, 0, 0, 1, 1, 1};
    for (std::int64_t row = 0; row < 8; ++row)
      EXPECT_EQ(answer.outputs[1].expected->at(row), ok[static_cast<std::size_t>(row)]) << row;
  }
}

TEST(RejectionSampleSpecTest, ScheduleChangesNoInput) {
  const std::string head = "probs=f32,filter=f32/v=33,b=3,draw=none,order=joint,splits=";
  EXPECT_EQ(rejection_case(head + "1/ordinary").data_seed(),
            rejection_case(head + "auto/ordinary").data_seed());
}

TEST(RejectionSampleSpecTest, ShapesThatAreNoCaseAreRefused) {
  for (const char* shape :
       {"v=262145,b=1,draw=none,order=joint,splits=1", "v=0,b=1,draw=none,order=joint,splits=1",
        "v=8,b=0,draw=none,order=joint,splits=1", "v=8,b=1,draw=none,order=joint,splits=65",
        "v=8,b=989,draw=none,order=joint,splits=64"}) {
    const std::string id = std::string("probs=f32,filter=f32/") + shape + "/ordinary";
    EXPECT_THROW(rejection_sample_inputs(rejection_case(id)), UsageError) << id;
  }
}

}  // namespace
}  // namespace parity
