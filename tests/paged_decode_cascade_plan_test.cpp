// Plans of paged_decode_cascade: how much is read, what is kept, and what is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "device/device_buffer.hpp"
#include "device/paged_decode_cascade.hpp"
#include "harness/kernels/paged_decode_cases.hpp"
#include "tests/kernel_run.hpp"

namespace parity {
namespace {

/// Groups of 3, 1 and 2 rows with 6, 0 and 4 pages of prefix.
const std::string kShared = "paged_decode_cascade/q=f32,k=f16,v=bf16/d=64,hq=6,hkv=2,page=8,ppc=";

PagedDecodeCascadeArgs args_of(const KernelCase& problem, const DeviceTensors& buffers) {
  return {.decode = paged_decode_args(problem.c, buffers),
          .group_indptr = buffers.at("group_indptr"),
          .prefix_indptr = buffers.at("prefix_indptr"),
          .prefix_indices = buffers.at("prefix_indices")};
}

/// Needs more workspace.
const std::string kSmallPages =
    "paged_decode_cascade/q=f32,k=f16,v=bf16/d=64,hq=6,hkv=2,page=1,ppc=1/exact";

class CascadePlanTest : public testing::Test {
 protected:
  Runtime& runtime() { return run_.runtime(); }
  PagedDecodeCascadePlan plan(const PagedDecodeCascadeArgs& args, std::int64_t ppc) {
    return {runtime(), args, read_cascade_table(runtime().backend(), args), ppc};
  }
  std::string refusal(const PagedDecodeCascadeArgs& args, std::int64_t ppc = 1) {
    return refusal_of([&] { plan(args, ppc); });
  }

  KernelRun run_;
  KernelCase problem_{kShared + "1/shared"};
  PagedDecodeCascadeArgs args_ = args_of(problem_, run_.place(problem_));
};

/// Group 0 has 9 heads of each kv head over three rows, group 2 has 6 over two.
TEST_F(CascadePlanTest, ThePagesOfAPrefixAreReadOncePerEightHeadsOfAllItsRows) {
  const PagedDecodeCascadePlan whole = plan(args_, 100000);
  EXPECT_EQ(whole.prefixes().tiles.size(), 2u + 1u);
  EXPECT_EQ(whole.suffixes().tiles.size(), 6u) << "one of each row";
  EXPECT_EQ(whole.partials(), 6 + 5) << "five rows have a prefix";
  const PagedDecodeCascadePlan halves = plan(args_, 3);
  EXPECT_EQ(halves.prefixes().tiles.size(), 2 * 2u + 2 * 1u);
  const PagedDecodeCascadePlan pages = plan(args_, 1);
  EXPECT_EQ(pages.prefixes().tiles.size(), 6 * 2u + 4 * 1u);
}

TEST_F(CascadePlanTest, SaysHowItWasSplit) {
  EXPECT_EQ(paged_decode_cascade(runtime(), args_, plan(args_, 3)),
            "cascade ppc=3,3 tiles=6,7 partials=17 merge=1 bucket=4 threads=128");
}

TEST_F(CascadePlanTest, AutoChoosesForEachLevelByShapesAlone) {
  const std::string resolved =
      paged_decode_cascade(runtime(), args_, plan(args_, kAutoPagesPerChunk));
  EXPECT_EQ(paged_decode_cascade(runtime(), args_, plan(args_, kAutoPagesPerChunk)), resolved);
  EXPECT_GE(plan(args_, kAutoPagesPerChunk).prefixes().pages_per_chunk, 1);
  EXPECT_EQ(refusal(args_, -1),
            "paged_decode_cascade: pages_per_chunk is -1, but must be at least 1, or 0 to have it "
            "chosen");
}

/// B7.
TEST_F(CascadePlanTest, AWorkspaceOneByteTooSmallIsRefused) {
  const PagedDecodeCascadePlan split = plan(args_, 3);
  const std::int64_t needed = split.workspace_bytes();
  EXPECT_EQ(needed, 17 * 6 * 65 * 4);
  const DeviceBuffer memory(runtime().backend(), static_cast<std::size_t>(needed));
  const auto with = [&](std::int64_t bytes) {
    return refusal_of([&] {
      paged_decode_cascade(runtime(), args_, split, {{Dtype::u8, {bytes}}, memory.data()});
    });
  };
  EXPECT_EQ(with(needed), "accepted");
  EXPECT_EQ(with(needed - 1),
            fmt::format("paged_decode_cascade: workspace has {} bytes, but {} are needed: 17 "
                        "chunks · 6 heads · (64 + 1) · 4",
                        needed - 1, needed));
  EXPECT_EQ(refusal_of([&] {
              paged_decode_cascade(runtime(), args_, split,
                                   {{Dtype::u8, {4}}, args_.prefix_indices.data});
            }),
            "paged_decode_cascade: workspace lies on prefix_indices, but an output needs memory of "
            "its own");
}

TEST_F(CascadePlanTest, TheLongestChunkLeavesPrefixesAndSuffixesWhole) {
  const PagedDecodeCascadePlan whole = plan(args_, 100000);
  const PagedDecodeCascadePlan longest = plan(args_, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(longest.partials(), whole.partials());
  EXPECT_EQ(longest.suffixes().tiles.size(), whole.suffixes().tiles.size());
}

TEST_F(CascadePlanTest, WhatTheWorkspaceHeldNeverMatters) {
  const TensorList fresh = run_.run(problem_);
  run_.run(KernelCase(kSmallPages));
  const TensorList used = run_.run(problem_);
  EXPECT_EQ(find(used, "out"), find(fresh, "out"));
  EXPECT_EQ(find(used, "lse"), find(fresh, "lse"));
}

/// Row 2 has no suffix.
TEST_F(CascadePlanTest, ThePlantDirtyWorkspaceLeavesThePartialOfAnEmptySuffix) {
  const TensorList well = run_.run(problem_);
  KernelRun planted(Faults{.dirty_workspace = true});
  EXPECT_EQ(find(planted.run(problem_), "out"), find(well, "out")) << "the workspace is fresh";
  planted.run(KernelCase(kSmallPages));
  const TensorList stale = planted.run(problem_);
  for (std::int64_t row = 0; row < 6; ++row)
    EXPECT_EQ(row_bytes(find(stale, "out"), row) == row_bytes(find(well, "out"), row), row != 2)
        << row;
}

TEST_F(CascadePlanTest, IsRunAgainForWhatItWasMadeForOnly) {
  const PagedDecodeCascadePlan split = plan(args_, 2);
  const auto with = [&](const std::function<void(PagedDecodeCascadeArgs&)>& change) {
    PagedDecodeCascadeArgs args = args_;
    change(args);
    return refusal_of([&] { paged_decode_cascade(runtime(), args, split); });
  };
  EXPECT_EQ(with([](auto&) {}), "accepted");
  EXPECT_EQ(with([](auto& a) { a.group_indptr.type.shape = a.prefix_indptr.type.shape = {3}; }),
            "paged_decode_cascade: the plan was made for groups 3, but 2 is given; plan again");
  EXPECT_EQ(with([](auto& a) { --a.prefix_indices.type.shape[0]; }),
            "paged_decode_cascade: the plan was made for prefix_indices 10, but 9 is given; plan "
            "again");
}

/// Same shapes, other groups.
TEST_F(CascadePlanTest, ACheckedRunRefusesTablesThatWereNotPlanned) {
  HostCascadeTable table = read_cascade_table(runtime().backend(), args_);
  table.prefix_indptr[1] = table.prefix_indptr[2] = 5;  // group 2 would have one page more
  const PagedDecodeCascadePlan split(runtime(), args_, table, 2);
  EXPECT_EQ(refusal_of([&] { paged_decode_cascade(runtime(), args_, split); }),
            "paged_decode_cascade: prefix_indptr[1] was 5 when it was planned and is 6 now; plan "
            "again");
}

TEST_F(CascadePlanTest, ArgumentsThatItCannotTakeAreRefused) {
  const auto with = [&](const std::function<void(PagedDecodeCascadeArgs&)>& change) {
    PagedDecodeCascadeArgs args = args_;
    change(args);
    return refusal_of([&] { check_paged_decode_cascade_args(args); });
  };
  EXPECT_EQ(with([](auto&) {}), "accepted");
  EXPECT_EQ(with([](auto& a) { a.decode.window = 3; }),
            "paged_decode_cascade: window is 3, but must be 0: a prefix is attended whole");
  EXPECT_EQ(with([](auto& a) { a.group_indptr.type.dtype = Dtype::i64; }),
            "paged_decode_cascade: group_indptr is i64[4], but must be i32 of rank 1");
  EXPECT_EQ(with([](auto& a) { a.prefix_indptr.type.shape = {3}; }),
            "paged_decode_cascade: prefix_indptr is i32[3], but must be i32[4]");
  EXPECT_EQ(with([](auto& a) { a.prefix_indices.data = nullptr; }),
            "paged_decode_cascade: prefix_indices has no memory");
  EXPECT_EQ(with([](auto& a) { a.decode.lse.data = a.prefix_indptr.data; }),
            "paged_decode_cascade: lse lies on prefix_indptr, but an output needs memory of its "
            "own");
  EXPECT_EQ(
      with([](auto& a) { a.decode.lse.data = a.group_indptr.data; }),
      "paged_decode_cascade: lse lies on group_indptr, but an output needs memory of its own");
  EXPECT_EQ(with([](auto& a) { a.decode.q.type.dtype = Dtype::e5m2; }),
            "paged decode: q is e5m2[6,6,64], but must be f32, f16 or bf16");
}

/// A11, also where the launch itself would not look.
TEST_F(CascadePlanTest, ThePlanAlwaysValidatesTheTables) {
  args_.decode.checked = false;
  const auto with = [&](const std::function<void(HostCascadeTable&)>& change) {
    HostCascadeTable table = read_cascade_table(runtime().backend(), args_);
    change(table);
    return refusal_of([&] { PagedDecodeCascadePlan(runtime(), args_, table, 1); });
  };
  EXPECT_EQ(with([](auto&) {}), "accepted");
  EXPECT_EQ(with([](auto& t) { t.group_indptr[3] = 5; }),
            "paged_decode_cascade: group_indptr ends at 5, but q has 6 rows: each is in one group");
  EXPECT_EQ(with([](auto& t) { t.group_indptr[1] = 5; }),
            "paged_decode_cascade: group_indptr falls from 5 to 4 in row 1");
  EXPECT_EQ(with([](auto& t) { t.group_indptr.pop_back(); }),
            "paged_decode_cascade: tables of 2 and 3 groups (group_indptr, prefix_indptr) were "
            "given for 3 groups");
  EXPECT_EQ(with([](auto& t) { t.prefix_indptr[3] = 11; }),
            "paged_decode_cascade: prefix_indptr ends at 11, but prefix_indices has 10 entries");
  EXPECT_EQ(with([](auto& t) { t.prefix_indices[7] = 99; }),
            fmt::format("paged_decode_cascade: prefix_indices[7] of group 2 is 99, but the smaller "
                        "pool has {} pages",
                        args_.decode.k.pages.type.shape[0]));
  EXPECT_EQ(with([](auto& t) { t.prefix_indptr[1] = 5; }),
            "paged_decode_cascade: first_page_offset of row 3 is 4, but must be 0 behind the "
            "prefix of group 1");
  EXPECT_EQ(with([](auto& t) { t.suffix.last_page_len[0] = 9; }),
            "paged decode: last_page_len of row 0 is 9, but must be 1 to page_size = 8");
}

TEST_F(CascadePlanTest, TheModuleOfPrefixesHasEightHeadsWhateverTheGroupSize) {
  const PagedDecodeChoice choice = {Dtype::bf16, Dtype::bf16, Dtype::f16, Dtype::e4m3,
                                    96,          1,           false,      8};
  EXPECT_EQ(paged_decode_cascade_variant(choice).canonical(),
            "paged_decode_cascade<D=96,GROUP=1,SOFTCAP=0,TILE=8>(q=bf16,out=bf16,k=f16,v=e4m3)");
  EXPECT_EQ(paged_decode_cascade_variant(paged_decode_cascade_prefix_choice(choice)).canonical(),
            "paged_decode_cascade<D=96,GROUP=8,SOFTCAP=0,TILE=4>(q=bf16,out=bf16,k=f16,v=e4m3)");
}

}  // namespace
}  // namespace parity
