// paged_decode_v2: against its reference and version 1 at every split, at its
// edges, and what it refuses.
#include "device/paged_decode_v2.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/judge.hpp"
#include "tests/paged_decode_run.hpp"
#include "tests/refusal.hpp"

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

/// The worst difference of elements that are finite in both; infinite where only one is, and with
/// `same_kind` where one is a NaN and the other an infinity.
double difference(const Tensor& a, const Tensor& b, bool same_kind) {
  double worst = 0.0;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const double x = a.at(i), y = b.at(i);
    if (std::isfinite(x) && std::isfinite(y))
      worst = std::max(worst, std::abs(x - y));
    else if (std::isfinite(x) != std::isfinite(y) ||
             (same_kind && x != y && !(std::isnan(x) && std::isnan(y))))
      worst = kInfinity;
  }
  return worst;
}

TEST(PagedDecodeV2Test, EverySplitAgreesWithVersionOneWithinTheTolerance) {
  DecodeRun run;
  for (const char* recipe : {"ragged", "nan", "empty"}) {
    const DecodeCase decode(fmt::format("q=f32,k=f16,v=f32/d=64,hq=4,hkv=1,page=1/{}", recipe));
    const Decoded one = run.decode(decode);
    for (const std::int64_t split : kSplits) {
      const Decoded got = run.decode(decode, split);
      EXPECT_LE(difference(got.out, one.out, false), 1e-5) << recipe << " ppc=" << split;
      EXPECT_LE(difference(got.lse, one.lse, true), 1e-5) << recipe << " ppc=" << split;
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

/// B2: of 3072 + 64 equal scores the last 64 weigh 64/3136, and the lse is log2 of the count.
TEST(PagedDecodeV2Test, EqualScoresAreMergedInBaseTwo) {
  DecodeRun run;
  const DecodeCase decode = DecodeCase::equal_scores(3072, 64);
  for (const std::int64_t split : {1, 2, 48, 49}) {
    const Decoded got = run.decode(decode, split);
    EXPECT_NEAR(got.out.at(0), 64.0 / 3136.0, 1e-7) << split;
    EXPECT_NEAR(got.lse.at(0), std::log2(3136.0), 3e-6) << split;
  }
}

/// B4: two chunks of two rows; the outputs hold NaN before.
TEST(PagedDecodeV2Test, EveryRowOfASplitResultIsWritten) {
  DecodeRun run;
  const DecodeCase decode = DecodeCase::equal_scores(512, 512, 2);
  const PagedDecodeArgs args = run.place(decode);
  Backend& backend = run.runtime().backend();
  backend.fill(args.out.data, std::byte{0xff}, args.out.type.bytes());
  backend.fill(args.lse.data, std::byte{0xff}, args.lse.type.bytes());
  const PagedDecodeV2Plan plan(run.runtime(), args, read_page_table(backend, args.table), 8);
  EXPECT_EQ(plan.split().chunks(), 4);
  paged_decode_v2(run.runtime(), args, plan);
  std::vector<float> out(static_cast<std::size_t>(args.out.type.elements()));
  backend.copy_out(std::as_writable_bytes(std::span(out)), args.out.data);
  EXPECT_TRUE(std::ranges::none_of(out, [](float value) { return std::isnan(value); }));
  std::vector<float> lse(static_cast<std::size_t>(args.lse.type.elements()));
  backend.copy_out(std::as_writable_bytes(std::span(lse)), args.lse.data);
  EXPECT_TRUE(std::ranges::none_of(lse, [](float value) { return std::isnan(value); }));
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
  EXPECT_EQ(refusal_of([&] {
              paged_decode_v2(runtime, args, plan, {{Dtype::u8, {needed}}, args.k.pages.data});
            }),
            "paged_decode_v2: workspace lies on k, but an output needs memory of its own");
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

std::string refusal(DecodeRun& run, const PagedDecodeArgs& args, const PagedDecodeV2Plan& plan) {
  try {
    paged_decode_v2(run.runtime(), args, plan);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PagedDecodeV2Test, APlanIsRunAgainForWhatItWasMadeForOnly) {
  DecodeRun run;
  Runtime& runtime = run.runtime();
  const DecodeCase decode("q=f32,k=f32,v=f32/d=64,hq=4,hkv=2,page=8/ragged");
  const PagedDecodeArgs args = run.place(decode);
  const PagedDecodeV2Plan plan(runtime, args, read_page_table(runtime.backend(), args.table), 1);
  EXPECT_EQ(paged_decode_v2(runtime, args, plan), paged_decode_v2(runtime, args, plan));

  PagedDecodeArgs other = args;
  --other.k.pages.type.shape[0];
  EXPECT_EQ(
      refusal(run, other, plan),
      fmt::format("paged_decode_v2: the plan was made for pages of k {}, but {} is given; plan "
                  "again",
                  args.k.pages.type.shape[0], args.k.pages.type.shape[0] - 1));
  other = run.place(DecodeCase("q=f32,k=f32,v=f32/d=64,hq=2,hkv=2,page=8/ragged"));
  EXPECT_EQ(refusal(run, other, plan),
            "paged_decode_v2: the plan was made for query heads 4, but 2 is given; plan again");
}

/// Same shapes, other rows.
TEST(PagedDecodeV2Test, ACheckedRunRefusesATableThatWasNotPlanned) {
  DecodeRun run;
  Runtime& runtime = run.runtime();
  const DecodeCase decode("q=f32,k=f32,v=f32/d=64,hq=1,hkv=1,page=16/exact");
  const PagedDecodeArgs args = run.place(decode);
  HostPageTable table = read_page_table(runtime.backend(), args.table);
  const std::int32_t was = table.indptr[1];
  table.indptr[1] = was - 1;
  const PagedDecodeV2Plan plan(runtime, args, table, 1);
  EXPECT_EQ(refusal(run, args, plan),
            fmt::format("paged_decode_v2: page_indptr[1] was {} when it was planned and is {} now; "
                        "plan again",
                        was - 1, was));
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
            "v2 ppc=2 tile=4 chunks=4 merge=1 bucket=4 threads=128");
  EXPECT_EQ(paged_decode_v2(runtime, args, {runtime, args, table, 64}),
            "v2 ppc=64 tile=4 chunks=3 merge=0 bucket=4 threads=128");
}

}  // namespace
}  // namespace parity
