// paged_decode_v2 on the host backend: against its reference and version 1 at every split, at its
// edges, and what it refuses.
#include "device/paged_decode_v2.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/judge.hpp"
#include "tests/paged_decode_run.hpp"

namespace parity {
namespace {

constexpr std::array<std::int64_t, 9> kSplits = {1, 2, 3, 4, 7, 16, 64, 100000, kAutoPagesPerChunk};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Bytes of `row` in a tensor whose first axis is rows.
std::span<const std::byte> row_of(const Tensor& tensor, std::int64_t row) {
  const std::size_t bytes = tensor.bytes().size() / static_cast<std::size_t>(tensor.shape()[0]);
  return tensor.bytes().subspan(static_cast<std::size_t>(row) * bytes, bytes);
}

void expect_right_at_every_split(DecodeRun& run, const std::string& id) {
  const DecodeCase decode(id);
  for (const std::int64_t split : kSplits) {
    SCOPED_TRACE(fmt::format("ppc={}", split));
    expect_right(decode, run.decode(decode, split));
  }
}

/// E4: every split is a trace of its own, and one that fails does not hide the others.
TEST(PagedDecodeV2Test, AgreesWithTheReferenceAtEverySplit) {
  DecodeRun run;
  expect_right_at_every_split(run, "q=bf16,k=f16,v=f32/d=64,hq=8,hkv=2,page=1/ragged");
  expect_right_at_every_split(run, "q=f32,k=bf16,v=f16/d=96,hq=5,hkv=1,page=8/offset");
  expect_right_at_every_split(run, "q=f16,k=f32,v=bf16/d=40,hq=2,hkv=2,page=16/exact");
}

TEST(PagedDecodeV2Test, AgreesWithTheReferenceForSpecialValues) {
  DecodeRun run;
  expect_right_at_every_split(run, "q=f32,k=bf16,v=f16/d=64,hq=4,hkv=2,page=1/nan");
  expect_right_at_every_split(run, "q=bf16,k=bf16,v=bf16/d=64,hq=2,hkv=1,page=16/empty");
}

TEST(PagedDecodeV2Test, LongRowsStayInsideTheTolerance) {
  DecodeRun run;
  const DecodeCase decode("q=f32,k=f32,v=f32/d=256,hq=2,hkv=1,page=16/long");
  for (const std::int64_t split : {1, 7, 64}) expect_right(decode, run.decode(decode, split));
}

TEST(PagedDecodeV2Test, EverySplitAgreesWithVersionOneWithinTheTolerance) {
  DecodeRun run;
  for (const char* recipe : {"ragged", "nan", "empty"}) {
    const DecodeCase decode(fmt::format("q=f32,k=f16,v=f32/d=64,hq=4,hkv=1,page=1/{}", recipe));
    const Decoded one = run.decode(decode);
    for (const std::int64_t split : kSplits) {
      SCOPED_TRACE(fmt::format("{} ppc={}", recipe, split));
      const Decoded got = run.decode(decode, split);
      for (std::int64_t i = 0; i < one.out.elements(); ++i) {
        const double want = one.out.at(i);
        if (std::isfinite(want))
          ASSERT_NEAR(got.out.at(i), want, 1e-5) << i;
        else
          ASSERT_FALSE(std::isfinite(got.out.at(i))) << i;
      }
      for (std::int64_t i = 0; i < one.lse.elements(); ++i) {
        const double want = one.lse.at(i);
        if (std::isfinite(want))
          ASSERT_NEAR(got.lse.at(i), want, 1e-5) << i;
        else
          ASSERT_TRUE(got.lse.at(i) == want || (std::isnan(want) && std::isnan(got.lse.at(i))))
              << i;
      }
    }
  }
}

TEST(PagedDecodeV2Test, OneChunkARowGivesTheBitsOfVersionOne) {
  DecodeRun run;
  const DecodeCase decode("q=bf16,k=f16,v=f32/d=128,hq=4,hkv=2,page=8/ragged");
  const Decoded one = run.decode(decode);
  const Decoded whole = run.decode(decode, 100000);
  EXPECT_EQ(whole.out, one.out);
  EXPECT_EQ(whole.lse, one.lse);
}

/// A8.
TEST(PagedDecodeV2Test, AnyGroupSizeIsRight) {
  DecodeRun run;
  for (const int group : {3, 5, 6, 7, 12, 16, 32}) {
    const DecodeCase decode(
        fmt::format("q=f32,k=f16,v=f32/d=64,hq={},hkv=2,page=16/ragged", 2 * group));
    expect_right(decode, run.decode(decode, 1));
  }
}

/// A1.
TEST(PagedDecodeV2Test, UnattendedSlotsNeverChangeABit) {
  DecodeRun run;
  DecodeCase decode("q=bf16,k=bf16,v=bf16/d=64,hq=8,hkv=2,page=32/ragged");
  const Decoded clean = run.decode(decode, 1);
  for (const double tail : {0.0, kNan, kInfinity, 6e4}) {
    decode.fill_unattended(tail);
    const Decoded tailed = run.decode(decode, 1);
    EXPECT_EQ(tailed.out, clean.out) << tail;
    EXPECT_EQ(tailed.lse, clean.lse) << tail;
  }
}

/// A10.
TEST(PagedDecodeV2Test, ABatchBeyond65535IsComputed) {
  DecodeRun run;
  const std::int64_t batch = 65536;
  const Decoded got = run.decode_amid(Poison::ones, DecodeCase::uniform(batch), 1);
  const Decoded one = run.decode(DecodeCase::uniform(1), 1);
  for (std::int64_t row = 0; row < batch; ++row) {
    ASSERT_EQ(got.lse.at(row), one.lse.at(0)) << row;
    ASSERT_EQ(got.out.at(row * 8), one.out.at(0)) << row;
  }
}

/// B2: the second of 3136 equal scores' parts weighs 64/3136, and their lse is log2 of the count.
TEST(PagedDecodeV2Test, EqualScoresAreMergedInBaseTwo) {
  DecodeRun run;
  DecodeCase decode("q=f32,k=f32,v=f32/d=256,hq=1,hkv=1,page=32/long");
  Tensor& q = find(decode.inputs, "q");
  q = Tensor(q.type());
  for (const std::int64_t split : {1, 7, 64}) {
    const Decoded got = run.decode(decode, split);
    EXPECT_NEAR(got.lse.at(0), std::log2(2311.0), 2e-6) << split;
    EXPECT_EQ(got.lse.at(1), 0.0) << "one token";
  }
}

/// B4.
TEST(PagedDecodeV2Test, EveryRowOfASplitResultIsWritten) {
  DecodeRun run;
  const DecodeCase decode("q=f32,k=f32,v=f32/d=64,hq=2,hkv=2,page=16/exact");
  const Decoded got = run.decode(decode, 2);  // also fails where an element is left unwritten
  for (std::int64_t i = 0; i < got.out.elements(); ++i) ASSERT_TRUE(std::isfinite(got.out.at(i)));
  for (std::int64_t i = 0; i < got.lse.elements(); ++i) ASSERT_TRUE(std::isfinite(got.lse.at(i)));
}

/// B7.
TEST(PagedDecodeV2Test, AWorkspaceOneByteTooSmallIsRefused) {
  DecodeRun run;
  const DecodeCase decode("q=f16,k=f16,v=f16/d=64,hq=4,hkv=2,page=8/ragged");
  const PagedDecodeArgs args = run.place(decode);
  Runtime& runtime = run.runtime();
  const PagedDecodeV2Plan plan(runtime, args, read_page_table(runtime.backend(), args.table), 1);
  const std::int64_t needed = plan.workspace_bytes();
  EXPECT_EQ(needed, plan.split().chunks() * 4 * 65 * 4);
  const DeviceBuffer memory(runtime.backend(), static_cast<std::size_t>(needed));
  EXPECT_NO_THROW(paged_decode_v2(runtime, args, plan, {{Dtype::u8, {needed}}, memory.data()}));
  try {
    paged_decode_v2(runtime, args, plan, {{Dtype::u8, {needed - 1}}, memory.data()});
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              fmt::format("paged_decode_v2: workspace has {} bytes, but {} are needed: {} chunks · "
                          "4 heads · (64 + 1) · 4",
                          needed - 1, needed, plan.split().chunks()));
  }
}

/// B8.
TEST(PagedDecodeV2Test, ARowsBitsDoNotDependOnTheOthers) {
  DecodeRun run;
  const DecodeCase decode("q=f16,k=f32,v=f16/d=64,hq=4,hkv=2,page=16/ragged");
  const Decoded all = run.decode(decode, 2);
  for (std::int64_t row = 0; row < decode.batch(); ++row) {
    const Decoded alone = run.decode(decode.only_row(row), 2);
    EXPECT_TRUE(std::ranges::equal(alone.out.bytes(), row_of(all.out, row))) << row;
    EXPECT_TRUE(std::ranges::equal(alone.lse.bytes(), row_of(all.lse, row))) << row;
  }
}

TEST(PagedDecodeV2Test, WhatTheWorkspaceHeldNeverMatters) {
  DecodeRun run;
  const DecodeCase decode("q=f32,k=f32,v=f32/d=64,hq=4,hkv=2,page=8/ragged");
  const Decoded fresh = run.decode(decode, 1);
  run.decode(DecodeCase("q=f32,k=f32,v=f32/d=128,hq=8,hkv=2,page=1/exact"), 1);
  const Decoded used = run.decode(decode, 1);
  EXPECT_EQ(used.out, fresh.out);
  EXPECT_EQ(used.lse, fresh.lse);
}

TEST(PagedDecodeV2Test, APlanIsRunAgainForTheSameShapesOnly) {
  DecodeRun run;
  Runtime& runtime = run.runtime();
  const DecodeCase decode("q=f32,k=f32,v=f32/d=64,hq=4,hkv=2,page=8/ragged");
  PagedDecodeArgs args = run.place(decode);
  const PagedDecodeV2Plan plan(runtime, args, read_page_table(runtime.backend(), args.table), 1);
  EXPECT_EQ(paged_decode_v2(runtime, args, plan), paged_decode_v2(runtime, args, plan));
  const PagedDecodeArgs other =
      run.place(DecodeCase("q=f32,k=f32,v=f32/d=64,hq=2,hkv=2,page=8/ragged"));
  EXPECT_THROW(paged_decode_v2(runtime, other, plan), UsageError);
}

/// A11, also where the launch itself would not look.
TEST(PagedDecodeV2Test, ThePlanAlwaysValidatesThePageTable) {
  DecodeRun run;
  Runtime& runtime = run.runtime();
  PagedDecodeArgs args = run.place(DecodeCase("q=f32,k=f32,v=f32/d=64,hq=1,hkv=1,page=16/exact"));
  args.checked = false;
  HostPageTable table = read_page_table(runtime.backend(), args.table);
  table.last_page_len[1] = 17;
  try {
    const PagedDecodeV2Plan plan(runtime, args, table, 1);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "paged decode: last_page_len of row 1 is 17, but must be 1 to page_size = 16");
  }
  table = read_page_table(runtime.backend(), args.table);
  table.last_page_len.pop_back();
  EXPECT_THROW(PagedDecodeV2Plan(runtime, args, table, 1), UsageError);
}

TEST(PagedDecodeV2Test, SaysHowItWasSplit) {
  DecodeRun run;
  Runtime& runtime = run.runtime();
  const PagedDecodeArgs args =
      run.place(DecodeCase("q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/exact"));
  const HostPageTable table = read_page_table(runtime.backend(), args.table);
  EXPECT_EQ(paged_decode_v2(runtime, args, {runtime, args, table, 2}),
            "v2 ppc=2 chunks=4 merge=1 bucket=4 threads=128");
  EXPECT_EQ(paged_decode_v2(runtime, args, {runtime, args, table, 64}),
            "v2 ppc=64 chunks=3 merge=0 bucket=4 threads=128");
}

}  // namespace
}  // namespace parity
