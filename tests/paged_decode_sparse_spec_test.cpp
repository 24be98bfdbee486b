// The spec of paged_decode_sparse: what its inputs hold, what is no case, and that its cases tell
// right from wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "harness/case.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"
#include "harness/kernels/paged_decode_sparse_inputs.hpp"
#include "harness/pack_builder.hpp"
#include "tests/kernel_run.hpp"

namespace parity {
namespace {

std::string refusal(const std::string& id) {
  return refusal_of([&] { KernelCase{id}; });
}

TEST(PagedDecodeSparseSpecTest, ListsHaveSomeAllOneOrNoneOfTheirRowsTokens) {
  const Case c =
      parse_case(registry(), "paged_decode_sparse/q=f32,k=f32,v=f32/d=64,hq=1,hkv=1/long");
  const std::vector<std::int64_t> half = selected_tokens(c, 0, 1000);
  EXPECT_GT(half.size(), 400u);
  EXPECT_LT(half.size(), 600u);
  EXPECT_EQ(half.back(), 999) << "the needle";
  EXPECT_TRUE(std::ranges::is_sorted(half));
  EXPECT_NE(selected_tokens(c, 4, 1000), half) << "each list has a choice of its own";
  EXPECT_EQ(selected_tokens(c, 1, 1000).size(), 1000u);
  EXPECT_EQ(selected_tokens(c, 2, 1000), std::vector<std::int64_t>{999});
  EXPECT_TRUE(selected_tokens(c, 3, 1000).empty());
  for (std::int64_t list = 0; list < 4; ++list) EXPECT_TRUE(selected_tokens(c, list, 0).empty());
}

TEST(PagedDecodeSparseSpecTest, SpecialValuesAreSelected) {
  const Case c =
      parse_case(registry(), "paged_decode_sparse/q=f32,k=f32,v=f32/d=64,hq=2,hkv=2/nan");
  for (std::int64_t list = 0; list < 10; ++list) {
    const std::vector<std::int64_t> tokens = selected_tokens(c, list, 9);
    EXPECT_EQ(std::vector<std::int64_t>(tokens.begin(), tokens.begin() + 3),
              (std::vector<std::int64_t>{0, 1, 2}));
  }
}

TEST(PagedDecodeSparseSpecTest, PoolsAndQueriesAreThoseOfPagesOfOneSlot) {
  const KernelCase sparse("paged_decode_sparse/q=f32,k=f16,v=bf16/d=64,hq=2,hkv=2/ragged");
  const TensorList dense = paged_decode_inputs(sparse.c);
  for (const char* name : {"q", "k_pages", "v_pages"})
    EXPECT_EQ(find(sparse.inputs, name), find(dense, name));
  EXPECT_EQ(find(sparse.inputs, "page_indptr").elements(), 5 * 2 + 1);
  EXPECT_EQ(sparse.inputs.size(), 5u) << "no last_page_len, no first_page_offset";
}

/// Also refuses a case in which a plausible wrong answer would pass.
TEST(PagedDecodeSparseSpecTest, EveryRecipeTellsRightFromWrong) {
  for (const char* recipe : {"ragged", "exact", "offset", "short", "empty", "nan", "long"})
    for (const char* heads : {"hq=2,hkv=1", "hq=2,hkv=2"})
      EXPECT_NO_THROW(build_case(parse_case(
          registry(),
          fmt::format("paged_decode_sparse/q=bf16,k=bf16,v=bf16/d=64,{}/{}", heads, recipe))))
          << recipe << ' ' << heads;
  EXPECT_NO_THROW(build_case(parse_case(
      registry(), "paged_decode_sparse/q=f16,k=e4m3,v=e5m2/d=64,hq=2,hkv=1,softcap=5/ragged")));
}

TEST(PagedDecodeSparseSpecTest, ADenseRunIsAWrongAnswer) {
  EXPECT_EQ(
      wrong_answers_of("paged_decode_sparse/q=f32,k=e4m3,v=f16/d=64,hq=2,hkv=2,softcap=5/ragged"),
      (std::set<std::string>{"last_slot_dropped", "last_slot_dropped in lse",
                             "all_slots_of_the_row", "all_slots_of_the_row in lse",
                             "softcap_ignored", "softcap_ignored in lse", "k_scale_ignored",
                             "k_scale_ignored in lse"}));
}

TEST(PagedDecodeSparseSpecTest, PagesWindowsAndWideSoftcapsAreNoCase) {
  const std::string axes = "paged_decode_sparse/q=f32,k=f32,v=f32/d=64,hq=2,hkv=2,";
  EXPECT_NE(refusal(axes + "page=16/ragged").find("page must be 1: what is selected are slots"),
            std::string::npos);
  EXPECT_NE(
      refusal(axes + "window=5/ragged").find("window must be 0: selected slots have no order"),
      std::string::npos);
  EXPECT_NE(refusal(axes + "softcap=50/ragged").find("hardly moves"), std::string::npos);
}

}  // namespace
}  // namespace parity
