// paged_decode_v1: against its reference, at its edges, and what it refuses.
#include "device/paged_decode_v1.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "device/device_buffer.hpp"
#include "device/no_device.hpp"
#include "harness/judge.hpp"
#include "tests/paged_decode_run.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expect_right(DecodeRun& run, const std::string& id) {
  const DecodeCase decode(id);
  parity::expect_right(decode, run.decode(decode));
}

TEST(PagedDecodeV1Test, AgreesWithTheReferenceForEveryHeadDim) {
  DecodeRun run;
  expect_right(run, "q=f32,k=f32,v=f32/d=64,hq=4,hkv=1,page=16/ragged");
  expect_right(run, "q=f16,k=bf16,v=f32/d=96,hq=4,hkv=2,page=1/offset");
  expect_right(run, "q=bf16,k=f32,v=f16/d=128,hq=8,hkv=1,page=8/exact");
  expect_right(run, "q=f32,k=f16,v=bf16/d=256,hq=2,hkv=2,page=32/short");
  expect_right(run, "q=f32,k=f32,v=f32/d=8,hq=1,hkv=1,page=16/ragged");
  expect_right(run, "q=f32,k=f32,v=f32/d=40,hq=2,hkv=1,page=7/ragged");
}

TEST(PagedDecodeV1Test, AgreesWithTheReferenceForSpecialValues) {
  DecodeRun run;
  expect_right(run, "q=bf16,k=f32,v=f16/d=128,hq=8,hkv=2,page=8/nan");
  expect_right(run, "q=f32,k=f32,v=f32/d=64,hq=2,hkv=1,page=16/empty");
}

/// A8. Groups beyond 8 take several blocks.
TEST(PagedDecodeV1Test, AnyGroupSizeIsRight) {
  DecodeRun run;
  for (const int group : {3, 5, 6, 7, 12, 16, 32, 71})
    expect_right(run, fmt::format("q=f32,k=f16,v=f32/d=64,hq={},hkv=2,page=16/ragged", 2 * group));
}

/// At D = 256 a stream holds a quarter of the tokens: more than the 512 after which it is flushed.
TEST(PagedDecodeV1Test, LongRowsStayInsideTheTolerance) {
  DecodeRun run;
  expect_right(run, "q=f32,k=f32,v=f32/d=256,hq=2,hkv=1,page=16/long");
}

/// A1.
TEST(PagedDecodeV1Test, UnattendedSlotsNeverChangeABit) {
  DecodeRun run;
  const DecodeCase decode("q=bf16,k=bf16,v=bf16/d=64,hq=8,hkv=2,page=32/ragged");
  std::vector<Decoded> results;
  for (const double tail : {0.0, kNan, kInfinity, 6e4}) {
    DecodeCase tailed = decode;
    tailed.fill_unattended(tail);
    results.push_back(run.decode(tailed));
  }
  for (const Decoded& result : results) {
    EXPECT_EQ(result.out, results.front().out);
    EXPECT_EQ(result.lse, results.front().lse);
  }
}

/// Of a pool of 8 GiB, bf16 [262146, 16, 8, 128]: page ids at which offsets pass 2^31 and 2^32
/// elements.
void expect_the_same_from_every_page(DecodeRun& run, const DeviceTensor& pool) {
  const Tensor low = run.decode_one_page(pool, 0);
  ASSERT_GT(std::abs(low.at(0)), 0.01);
  for (const std::int64_t page : {1, 131071, 131072, 131073, 262143, 262144, 262145})
    EXPECT_EQ(run.decode_one_page(pool, page), low) << page;
  for (const std::int64_t page : {65535, 65536, 65537, 131071, 131072})
    EXPECT_EQ(run.decode_one_page(pool, page, 2), low) << page << ", K and V interleaved";
}

/// A2, in address space alone.
TEST(PagedDecodeV1Test, PageOffsetsBeyondTwoToThe31AreRight) {
  DecodeRun run({}, BackendKind::host);
  const SparsePool pool({262146, 16, 8, 128}, Dtype::bf16);
  expect_the_same_from_every_page(run, pool.tensor());
}

/// A2.
TEST(PagedDecodeV1Test, PageOffsetsBeyondTwoToThe31AreRightOnAGpu) {
  std::unique_ptr<DecodeRun> run;
  try {
    run = std::make_unique<DecodeRun>(Faults{}, BackendKind::cuda);
  } catch (const NoDevice& none) {
    GTEST_SKIP() << none.what();
  }
  const TensorType type{Dtype::bf16, {262146, 16, 8, 128}};
  const DeviceBuffer memory(run->runtime().backend(), type.bytes());
  run->runtime().backend().fill(memory.data(), std::byte{0xff}, type.bytes());
  expect_the_same_from_every_page(*run, {type, memory.data()});
}

TEST(PagedDecodeV1Test, StridesDescribeAPaddedPool) {
  DecodeRun run;
  const DecodeCase decode("q=f32,k=f32,v=bf16/d=64,hq=4,hkv=2,page=8/ragged");
  const Decoded whole = run.decode(decode);
  const Decoded padded = run.decode(decode.padded(24));
  EXPECT_EQ(padded.out, whole.out);
  EXPECT_EQ(padded.lse, whole.lse);
}

/// A10.
TEST(PagedDecodeV1Test, ABatchBeyond65535IsComputed) {
  DecodeRun run;
  const std::int64_t batch = 65536;
  // Amid one poison: each run is 65,536 blocks.
  const Decoded got = run.decode_amid(Poison::ones, DecodeCase::uniform(batch));
  const Decoded one = run.decode(DecodeCase::uniform(1));
  EXPECT_EQ(got.lse.at(0), one.lse.at(0));
  for (std::int64_t row = 0; row < batch; ++row) {
    ASSERT_EQ(got.lse.at(row), one.lse.at(0)) << row;
    ASSERT_EQ(got.out.at(row * 8), one.out.at(0)) << row;
  }
}

/// B8.
TEST(PagedDecodeV1Test, ARowsBitsDoNotDependOnTheOthers) {
  DecodeRun run;
  const DecodeCase decode("q=f16,k=f32,v=f16/d=64,hq=4,hkv=2,page=16/ragged");
  const Decoded all = run.decode(decode);
  for (std::int64_t row = 0; row < decode.batch(); ++row) {
    const Decoded alone = run.decode(decode.only_row(row));
    const std::size_t out_bytes = alone.out.bytes().size(), lse_bytes = alone.lse.bytes().size();
    const auto offset = static_cast<std::size_t>(row);
    EXPECT_TRUE(std::ranges::equal(alone.out.bytes(),
                                   all.out.bytes().subspan(offset * out_bytes, out_bytes)))
        << row;
    EXPECT_TRUE(std::ranges::equal(alone.lse.bytes(),
                                   all.lse.bytes().subspan(offset * lse_bytes, lse_bytes)))
        << row;
  }
}

/// B2.
TEST(PagedDecodeV1Test, EqualScoresGiveTheLogOfTheCountInBaseTwo) {
  DecodeRun run;
  DecodeCase decode("q=f32,k=f32,v=f32/d=256,hq=1,hkv=1,page=32/long");
  Tensor& q = find(decode.inputs, "q");
  q = Tensor(q.type());
  const Decoded got = run.decode(decode);
  EXPECT_NEAR(got.lse.at(0), std::log2(2311.0), 2e-6);
  EXPECT_EQ(got.lse.at(1), 0.0) << "one token";
}

TEST(PagedDecodeV1Test, ValuesAreWeightedByExactlyTheTokensAttended) {
  DecodeRun run;
  DecodeCase decode("q=f32,k=f32,v=f32/d=64,hq=1,hkv=1,page=16/short");
  Tensor& q = find(decode.inputs, "q");
  q = Tensor(q.type());
  decode.set_value_of_newest_token(1.0);  // one-hot: 1 at the newest token, 0 at the others
  const Decoded got = run.decode(decode);
  constexpr std::array kTokens = {1, 2, 3, 5};
  for (std::size_t row = 0; row < kTokens.size(); ++row)
    EXPECT_NEAR(got.out.at(static_cast<std::int64_t>(row) * 64), 1.0 / kTokens[row], 1e-7);
}

TEST(PagedDecodeV1Test, TheModuleKeyHoldsDtypesHeadDimGroupBucketSoftcapAndTile) {
  EXPECT_EQ(paged_decode_v1_variant({Dtype::bf16, Dtype::f32, Dtype::f16, Dtype::e4m3, 96, 5, true})
                .canonical(),
            "paged_decode_v1<D=96,GROUP=8,SOFTCAP=1,TILE=4>(q=bf16,out=f32,k=f16,v=e4m3)");
  const auto bucket = [](std::int64_t group) {
    return paged_decode_v1_variant({Dtype::f32, Dtype::f32, Dtype::f32, Dtype::f32, 64, group})
        .constants.at(1)
        .second;
  };
  EXPECT_EQ(bucket(1), 1);
  EXPECT_EQ(bucket(2), 2);
  EXPECT_EQ(bucket(3), 4);
  EXPECT_EQ(bucket(8), 8);
  EXPECT_EQ(bucket(71), 8);
}

TEST(PagedDecodeV1Test, ThePlantDriftChangesBitsInsideTheTolerance) {
  const DecodeCase decode("q=f32,k=f32,v=f32/d=64,hq=4,hkv=1,page=16/ragged");
  const DecodeCase setter("q=f32,k=f32,v=f16/d=64,hq=4,hkv=1,page=16/ragged");
  DecodeRun run(Faults{.drift = true});
  const Decoded before = run.decode(decode);
  run.decode(setter);
  const Decoded after = run.decode(decode);
  EXPECT_NE(after.out, before.out);
  EXPECT_NE(judge_output(decode.expectation().outputs[0], after.out).verdict, Verdict::failed);
}

}  // namespace
}  // namespace parity
