// The spec of paged_decode_cascade: what its inputs hold, what is no case, and that its cases tell
// right from wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "harness/case.hpp"
#include "harness/kernels/paged_decode_cascade_inputs.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"
#include "harness/pack_builder.hpp"
#include "tests/kernel_run.hpp"

namespace parity {
namespace {

std::string refusal(const std::string& id) {
  return refusal_of([&] { KernelCase{id}; });
}

TEST(PagedDecodeCascadeSpecTest, AGroupSharesTheFirstPagesOfItsFirstRow) {
  const KernelCase problem(
      "paged_decode_cascade/q=f32,k=f32,v=f32/d=64,hq=1,hkv=1,page=16,ppc=1/shared");
  const TensorList dense = paged_decode_inputs(problem.c);
  EXPECT_EQ(integers_of(find(problem.inputs, "group_indptr")),
            (std::vector<std::int64_t>{0, 3, 4, 6}));
  // Row 0 has 53 tokens, row 3 begins inside a page, row 4 has 33 tokens.
  EXPECT_EQ(integers_of(find(problem.inputs, "prefix_indptr")),
            (std::vector<std::int64_t>{0, 3, 3, 5}));
  EXPECT_EQ(integers_of(find(problem.inputs, "page_indptr")),
            (std::vector<std::int64_t>{0, 1, 2, 2, 4, 5, 6}));
  const std::vector<std::int64_t> all = integers_of(find(dense, "page_indices"));
  const std::vector<std::int64_t> prefixes = integers_of(find(problem.inputs, "prefix_indices"));
  EXPECT_TRUE(std::equal(prefixes.begin(), prefixes.begin() + 3, all.begin()));
  for (const char* name : {"q", "k_pages", "v_pages", "last_page_len", "first_page_offset"})
    EXPECT_EQ(find(problem.inputs, name), find(dense, name)) << name;
}

/// Also refuses a case in which a plausible wrong answer would pass.
TEST(PagedDecodeCascadeSpecTest, EveryRecipeTellsRightFromWrong) {
  for (const std::string& recipe : paged_decode_cascade_recipes()) {
    if (recipe == "prompt") continue;  // thousands of tokens
    for (const char* page : {"1", "16"})
      EXPECT_NO_THROW(build_case(parse_case(
          registry(),
          fmt::format("paged_decode_cascade/q=bf16,k=f16,v=bf16/d=64,hq=2,hkv=1,page={},ppc=1/{}",
                      page, recipe))))
          << recipe << ' ' << page;
  }
}

TEST(PagedDecodeCascadeSpecTest, APrefixLeftOutIsAWrongAnswerWhereThereIsOne) {
  const std::string axes = "paged_decode_cascade/q=f32,k=f32,v=f32/d=64,hq=1,hkv=1,page=16,ppc=1/";
  EXPECT_TRUE(wrong_answers_of(axes + "shared").contains("prefix_dropped"));
  EXPECT_TRUE(wrong_answers_of(axes + "shared").contains("last_token_dropped"));
  EXPECT_FALSE(wrong_answers_of(axes + "empty").contains("prefix_dropped"));
}

TEST(PagedDecodeCascadeSpecTest, AWindowIsNoCase) {
  EXPECT_NE(refusal("paged_decode_cascade/q=f32,k=f32,v=f32/d=64,hq=1,hkv=1,page=16,window=5,ppc=1/"
                    "shared")
                .find("window must be 0: a prefix is attended whole"),
            std::string::npos);
}

TEST(PagedDecodeCascadeSpecTest, EveryPagesPerChunkSharesInputs) {
  const auto inputs = [](const char* ppc) {
    return KernelCase(fmt::format("paged_decode_cascade/q=f32,k=f32,v=f32/d=64,hq=1,hkv=1,page=16,"
                                  "ppc={}/shared",
                                  ppc))
        .inputs;
  };
  const TensorList one = inputs("1"), chosen = inputs("auto");
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_EQ(one[i].tensor, chosen[i].tensor) << one[i].name;
}

}  // namespace
}  // namespace parity
