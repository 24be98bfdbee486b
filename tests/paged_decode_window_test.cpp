// Windows, softcaps, scales, layouts and output dtypes of paged decode, by every version and split.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/kernels/paged_decode_expectation.hpp"
#include "reference/paged_decode.hpp"
#include "tests/paged_decode_run.hpp"

namespace parity {
namespace {

/// paged_decode_v1, then paged_decode_v2 at these pages per chunk.
constexpr std::array<Split, 5> kSplits = {std::nullopt, 1, 2, 7, 100000};

void expect_right_everywhere(DecodeRun& run, const std::string& id) {
  const DecodeCase decode(id);
  for (const Split split : kSplits) {
    SCOPED_TRACE(split ? fmt::format("ppc={}", *split) : "v1");
    expect_right(decode, run.decode(decode, split));
  }
}

/// Chunks lie wholly outside the window at the head of a row (one token attended), of all rows but
/// one, and of none.
TEST(PagedDecodeWindowTest, AgreesWithTheReferenceWhereverTheWindowBegins) {
  DecodeRun run;
  for (const int window : {1, 2, 16, 17, 40, 4096})
    expect_right_everywhere(
        run, fmt::format("q=f32,k=f16,v=f32/d=64,hq=4,hkv=2,page=8,window={}/ragged", window));
  expect_right_everywhere(run, "q=f32,k=f16,v=f32/d=64,hq=4,hkv=2,page=1,window=5/offset");
}

/// A9: of 8 equal scores the last 4 are attended. v is 1 in them alone, then in all but them.
TEST(PagedDecodeWindowTest, ExactlyTheLastTokensOfTheWindowAreAttended) {
  DecodeRun run;
  for (const Split split : kSplits) {
    DecodeCase inside = DecodeCase::equal_scores(4, 4);
    inside.set_constant("window", 4);
    EXPECT_EQ(run.decode(inside, split).out.at(0), 1.0);
    EXPECT_EQ(run.decode(inside, split).lse.at(0), 2.0);
    DecodeCase outside = DecodeCase::equal_scores(5, 3);
    outside.set_constant("window", 4);
    EXPECT_EQ(run.decode(outside, split).out.at(0), 0.75);
  }
}

/// A4: the window of the longest row says nothing of another's.
TEST(PagedDecodeWindowTest, ARowIsAttendedAsIfItWereAlone) {
  DecodeRun run;
  const DecodeCase decode("q=f16,k=f16,v=f32/d=64,hq=2,hkv=1,page=16,window=24/ragged");
  for (const Split split : kSplits) {
    const Decoded all = run.decode(decode, split);
    for (std::int64_t row = 0; row < decode.batch(); ++row) {
      const Decoded alone = run.decode(decode.only_row(row), split);
      for (std::int64_t head = 0; head < 2; ++head) {
        EXPECT_EQ(alone.lse.at(head), all.lse.at(row * 2 + head)) << row;
        for (std::int64_t i = 0; i < 64; ++i)
          ASSERT_EQ(alone.out.at(head * 64 + i), all.out.at((row * 2 + head) * 64 + i)) << row;
      }
    }
  }
}

TEST(PagedDecodeSoftcapTest, AgreesWithTheReference) {
  DecodeRun run;
  expect_right_everywhere(run, "q=f32,k=f32,v=f32/d=64,hq=4,hkv=2,page=8,softcap=5/ragged");
  expect_right_everywhere(run,
                          "q=bf16,k=f16,v=bf16/d=64,hq=4,hkv=1,page=8,window=16,softcap=50/offset");
  expect_right_everywhere(run, "q=f32,k=f32,v=f32/d=64,hq=4,hkv=2,page=8,softcap=5/nan");
}

TEST(PagedDecodePoolTest, EightBitPoolsAgreeWithTheReference) {
  DecodeRun run;
  expect_right_everywhere(run, "q=f32,k=e4m3,v=e5m2/d=64,hq=4,hkv=2,page=8/ragged");
  expect_right_everywhere(run, "q=bf16,k=e5m2,v=f16/d=40,hq=2,hkv=1,page=16/offset");
  expect_right_everywhere(run, "q=f16,k=f32,v=e4m3/d=64,hq=4,hkv=1,page=1/nan");
}

/// A6.
TEST(PagedDecodePoolTest, ScalesAreThoseGiven) {
  DecodeRun run;
  const DecodeCase decode("q=f32,k=e4m3,v=e4m3/d=64,hq=2,hkv=1,page=16/ragged");
  PagedDecodeArgs args = run.place(decode);
  args.k_scale = 0.25f;
  args.v_scale = 0.5f;
  const Decoded got = run.decode_placed(args);
  PagedDecodeProblem problem = paged_decode_problem(decode.c, decode.inputs);
  problem.k_scale = 0.25;
  problem.v_scale = 0.5;
  const PagedDecodeReference want = paged_decode(problem);
  for (std::int64_t i = 0; i < got.out.elements(); ++i)
    ASSERT_NEAR(got.out.at(i), want.out.at(i), 1e-6) << i;
  for (std::int64_t i = 0; i < got.lse.elements(); ++i)
    if (std::isfinite(want.lse.at(i))) {
      ASSERT_NEAR(got.lse.at(i), want.lse.at(i), 1e-5) << i;
    }
}

TEST(PagedDecodePoolTest, EveryLayoutAgreesWithTheReference) {
  DecodeRun run;
  for (const char* layout : {"hnd", "interleaved", "padded"})
    expect_right_everywhere(
        run, fmt::format("q=f16,k=bf16,v=bf16/d=64,hq=4,hkv=2,page=8,layout={}/offset", layout));
}

TEST(PagedDecodeOutputTest, AnF32OutputIsNotRoundedToTheQuerysDtype) {
  DecodeRun run;
  expect_right_everywhere(run, "q=bf16,out=f32,k=bf16,v=bf16/d=64,hq=4,hkv=2,page=8/ragged");
  expect_right_everywhere(run, "q=f16,out=f32,k=e4m3,v=f16/d=64,hq=4,hkv=2,page=8/ragged");
}

}  // namespace
}  // namespace parity
