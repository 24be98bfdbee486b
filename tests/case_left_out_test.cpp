// Ids that leave out axes with their usual value: one id a case, and the seeds of ids that never
// had the axis.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/case.hpp"
#include "tests/toy_kernel.hpp"

namespace parity {
namespace {

/// Toy cases whose ids may leave axes out: y is x's dtype, cap is 0, order is rows (0).
class LeftOutTest : public ::testing::Test {
 protected:
  LeftOutTest() {
    KernelSpec spec = toy_spec();
    spec.dtypes = {spec.dtypes[0],
                   {.name = "y", .values = spec.dtypes[0].values, .same_as = "x"},
                   spec.dtypes[1]};
    spec.constants = {{"rows", {1, 3}},
                      {.name = "cap", .values = {0, 5}, .usual = 0},
                      {.name = "order",
                       .values = {0, 1},
                       .schedule = true,
                       .words = {"rows", "columns"},
                       .usual = 0},
                      {.name = "n", .values = {8}},
                      {.name = "splits", .values = {0, 2}, .schedule = true, .words = {"auto"}}};
    kernels_ = {spec};
  }
  Case parse(const std::string& middle) const {
    return parse_case(kernels_, "toy_v1/" + middle + "/plain");
  }
  std::string refusal(const std::string& middle) const {
    try {
      parse(middle);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  std::vector<KernelSpec> kernels_;
};

TEST_F(LeftOutTest, AnAxisThatIsLeftOutHasItsUsualValue) {
  const Case c = parse("x=bf16,w=f16/rows=3,n=8,splits=auto");
  EXPECT_EQ(c.dtype("y"), Dtype::bf16);
  EXPECT_EQ(c.constant("cap"), 0);
  EXPECT_EQ(c.constant("order"), 0);
  EXPECT_EQ(c.constant("splits"), 0);
  EXPECT_EQ(c.dtype_text(), "x=bf16,w=f16");
  const Case other = parse("x=bf16,y=f32,w=f16/rows=3,cap=5,order=columns,n=8,splits=2");
  EXPECT_EQ(other.dtype("y"), Dtype::f32);
  EXPECT_EQ(other.constant("cap"), 5);
  EXPECT_EQ(other.constant("order"), 1);
}

TEST_F(LeftOutTest, EveryCaseHasOneId) {
  for (const Case& c : suite_cases(kernels_, Suite::full)) {
    EXPECT_EQ(parse_case(kernels_, c.id()), c);
    EXPECT_EQ(c.id().find("cap=0"), std::string::npos) << c.id();
    EXPECT_EQ(c.id().find("order=rows"), std::string::npos) << c.id();
  }
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"x=bf16,y=bf16,w=f16/rows=3,n=8,splits=2",
       "y=bf16 is what leaving y out says; leave it out"},
      {"x=f16,w=f16/rows=3,cap=0,n=8,splits=2", "cap=0 is what leaving cap out says"},
      {"x=f16,w=f16/rows=3,order=rows,n=8,splits=2", "order=rows is what leaving order out says"},
      {"x=f16,w=f16/rows=3,order=0,n=8,splits=2", "order is one of rows, columns"},
      {"x=f16,w=f16/rows=3,order=7,n=8,splits=2", "order is one of rows, columns"},
      {"x=f16,w=f16/rows=3,n=8,splits=0", "splits=0 is written splits=auto"},
      {"x=f16,w=f16/rows=3,order=columns,cap=5,n=8,splits=2",
       "the constants are rows,[cap],[order],n,splits, each once and in this order"},
      {"x=f16,w=f16,y=f32/rows=3,n=8,splits=2", "the dtypes are x,[y],w, each once and in this"},
      {"x=f16,y=f32/rows=3,n=8,splits=2", "no value for 'w'"},
      {"x=f16,y=i32,w=f16/rows=3,n=8,splits=2", "y is one of f32, f16, bf16"},
      {"x=f16,w=f16/cap=5,n=8,splits=2", "'cap=5' does not stand where it should"},
  };
  for (const auto& [middle, reason] : refused) {
    EXPECT_NE(refusal(middle).find(reason), std::string::npos) << refusal(middle);
    EXPECT_EQ(refusal(middle).find('\n'), std::string::npos) << middle;
  }
}

TEST_F(LeftOutTest, TheSeedKnowsNothingOfAxesThatAreLeftOut) {
  const std::string_view plain = "toy_v1/x=bf16,w=f16/rows=3,n=8,splits=2/plain";
  const std::uint64_t seed = parse("x=bf16,w=f16/rows=3,n=8,splits=2").data_seed();
  const std::vector<KernelSpec> before = {toy_spec()};
  EXPECT_EQ(seed, parse_case(before, plain).data_seed());
  EXPECT_EQ(seed, parse("x=bf16,w=f16/rows=3,order=columns,n=8,splits=auto").data_seed());
  EXPECT_NE(seed, parse("x=bf16,w=f16/rows=3,cap=5,n=8,splits=2").data_seed());
  EXPECT_NE(seed, parse("x=bf16,y=f32,w=f16/rows=3,n=8,splits=2").data_seed());
}

}  // namespace
}  // namespace parity
