// Tuning keys as text, what may be chosen for them, and what the recorded clock says of it.
#include "device/tuning_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "device/tuning_clock.hpp"
#include "tests/tuning_sample.hpp"

namespace parity {
namespace {

using test::differing_tuning_keys;
using test::sample_tuning_key;
using test::with_dtype;

/// What the recorded clock makes of a key.
TunedPlan recorded(const TuningKey& key) {
  const std::vector<TunedPlan> candidates = tuning_candidates(key);
  return *std::ranges::min_element(
      candidates, {}, [&](const TunedPlan& plan) { return RecordedClock().time(key, plan); });
}

PagedDecodeArgs args_of(std::int64_t page_size, std::int64_t rows) {
  PagedDecodeArgs args;
  args.q.type = args.out.type = {Dtype::f16, {rows, 4, 64}};
  args.k = args.v = PagePool::contiguous({{Dtype::f16, {9, page_size, 2, 64}}, nullptr});
  args.page_size = page_size;
  args.kv_heads = 2;
  return args;
}

const DeviceIdentity kDevice{"A CPU (R) @ 2", "x86_64+avx2", "host", 8};

TEST(TuningKeyTest, ReadsBackWhatItWrites) {
  EXPECT_EQ(sample_tuning_key().canonical(),
            "paged_decode_v2<D=256,GROUP=2,HKV=1,PAGE=16,BATCH=4,LONGEST=64,TOTAL=128,SMS=8>"
            "(q=f16,out=f16,k=f16,v=f16)@Some_CPU/x86_64+avx2/host/c0de");
  EXPECT_EQ(TuningKey::parse(sample_tuning_key().canonical()), sample_tuning_key());
  for (const auto& [field, key] : differing_tuning_keys())
    if (field != "kernel") {  // one kernel alone is tuned
      EXPECT_EQ(TuningKey::parse(key.canonical()), key) << field;
    }
}

TEST(TuningKeyTest, EveryFieldAloneMakesAnotherKeyAndAnotherText) {
  std::set<TuningKey> keys = {sample_tuning_key()};
  std::set<std::string> texts = {sample_tuning_key().canonical()};
  for (const auto& [field, key] : differing_tuning_keys()) {
    EXPECT_TRUE(keys.insert(key).second) << field;
    EXPECT_TRUE(texts.insert(key.canonical()).second) << field;
  }
}

TEST(TuningKeyTest, WhatIsNoKeyIsRefused) {
  const std::string good = sample_tuning_key().canonical();
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    EXPECT_NE(text.find(from), text.npos) << from;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& text : {std::string(),
                                  std::string("@/"),
                                  replaced("@Some_CPU", ""),
                                  replaced("/x86", "x86"),
                                  replaced("Some_CPU", "Some CPU"),
                                  replaced("Some_CPU", ""),
                                  replaced("/host", ""),
                                  replaced("/c0de", ""),
                                  replaced("c0de", ""),
                                  replaced("c0de", "c0 de"),
                                  replaced("paged_decode_v2", "paged_decode_v1"),
                                  replaced("paged_decode_v2", "nosuch"),
                                  replaced("D=256", "D=257"),
                                  replaced("GROUP=2,", ""),
                                  replaced("HKV=1", "HKV=0"),
                                  replaced("PAGE=16", "PAGE=-1"),
                                  replaced("PAGE=16", "PAGE=16,SOFTCAP=1"),
                                  replaced("SMS", "SMX"),
                                  replaced("LONGEST=64", "LONGEST=9223372036854775807"),
                                  replaced("BATCH=4,", ""),
                                  replaced("q=f16,", ""),
                                  replaced("k=f16", "k=i32"),
                                  replaced("q=f16,out", "out=f16,q"),
                                  replaced("out=f16", "out=bf16"),
                                  good + "/more",
                                  good + "\n"})
    EXPECT_THROW(TuningKey::parse(text), UsageError) << text;
}

TEST(TuningKeyTest, HoldsWhatALaunchIsGiven) {
  PagedDecodeArgs args = args_of(16, 3);
  args.softcap = 5;
  args.window = 40;
  const TuningKey key = TuningKey::of("paged_decode_v2", args, {0, 3, 3, 8}, kDevice, "c0de");
  EXPECT_EQ(key.canonical(),
            "paged_decode_v2<D=64,GROUP=2,HKV=2,SOFTCAP=1,PAGE=16,WINDOW=40,BATCH=4,LONGEST=128,"
            "TOTAL=128,SMS=8>(q=f16,out=f16,k=f16,v=f16)@A_CPU__R____2/x86_64+avx2/host/"
            "c0de");
  args.k.stride_head = 16 * 64;  // heads outside slots
  args.k.stride_slot = 64;
  args.v.stride_page += 256;
  const TuningKey strided = TuningKey::of("paged_decode_v2", args, {0, 3, 3, 8}, kDevice, "");
  EXPECT_EQ(strided.k_slot_gap, -64);
  EXPECT_EQ(strided.k_head_gap, 15 * 64);
  EXPECT_EQ(strided.k_page_gap, 0);
  EXPECT_EQ(strided.v_page_gap, 256);
}

/// The next token does not tune again.
TEST(TuningKeyTest, RowsOfEqualRoundedSizeShareAKey) {
  const auto key_of = [](const std::vector<std::int32_t>& indptr) {
    return TuningKey::of("paged_decode_v2", args_of(16, std::ssize(indptr) - 1), indptr, kDevice,
                         "c0de");
  };
  EXPECT_EQ(key_of({0, 5, 7, 12}), key_of({0, 7, 8, 14}));
  EXPECT_NE(key_of({0, 5, 7, 12}), key_of({0, 5, 7, 17})) << "more in all";
  EXPECT_NE(key_of({0, 5, 7, 12}), key_of({0, 9, 11, 12})) << "a longer row";
  EXPECT_NE(key_of({0, 5, 7, 12}), key_of({0, 5, 7, 9, 10, 12})) << "more rows";
  EXPECT_EQ(TuningKey::parse(key_of({0, 0, 0}).canonical()), key_of({0, 0, 0})) << "no pages";
}

/// D8: each alone.
TEST(TuningCodeTest, AnyTextAndAnythingOfTheToolchainMakeOtherCode) {
  const ToolchainIdentity toolchain{"nvrtc", "13.0", "sm_90a", {"-a", "-b"}};
  const KernelTexts texts = {{"x.cuh", "#include \"y.cuh\"\n1\n"},
                             {"y.cuh", "2\n"},
                             {"z.cuh", "3\n"},
                             {"other.cuh", "4\n"}};
  const auto code = [](const ToolchainIdentity& by, const KernelTexts& of) {
    return tuning_code({"x", "z"}, by, of);
  };
  std::set<std::string> codes = {code(toolchain, texts)};
  const auto expect_other = [&](const ToolchainIdentity& by, const KernelTexts& of) {
    EXPECT_TRUE(codes.insert(code(by, of)).second);
  };
  for (const std::size_t text : {0, 1, 2}) {
    KernelTexts edited = texts;
    edited[text].second = "#include \"y.cuh\"\n5\n";
    if (text == 1) edited[text].second = "5\n";
    expect_other(toolchain, edited);
  }
  for (const auto field :
       {&ToolchainIdentity::name, &ToolchainIdentity::version, &ToolchainIdentity::architecture}) {
    ToolchainIdentity other = toolchain;
    other.*field += "1";
    expect_other(other, texts);
  }
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"-a"}, {"-b", "-a"}, {"-a", "-b", "-c"}, {"-a\n-b"}}) {
    ToolchainIdentity other = toolchain;
    other.options = options;
    expect_other(other, texts);
  }
  KernelTexts unrelated = texts;
  unrelated[3].second = "5\n";
  EXPECT_EQ(code(toolchain, unrelated), code(toolchain, texts)) << "hit when the code is equal";
}

TEST(TunedPlanTest, ReadsBackWhatItWrites) {
  EXPECT_EQ((TunedPlan{4, 8}.canonical()), "ppc=4,tile=8");
  EXPECT_EQ(TunedPlan::parse("ppc=4,tile=8"), (TunedPlan{4, 8}));
  for (const char* text : {"", "ppc=4", "tile=8,ppc=4", "ppc=,tile=8", "ppc=04,tile=8",
                           "ppc=4,tile=8 ", "ppc=+4,tile=8", "ppc=4,tile=99999999999999999999"})
    EXPECT_THROW(TunedPlan::parse(text), UsageError) << text;
}

TEST(TuningCandidatesTest, AreSupportedTilesAndChunksThatCutTheLongestRow) {
  using Plans = std::vector<TunedPlan>;
  EXPECT_EQ(tuning_candidates(sample_tuning_key()),
            (Plans{{4, 4}, {2, 4}, {1, 4}, {4, 8}, {2, 8}, {1, 8}}));
  TuningKey large_group = sample_tuning_key();
  large_group.group_size = 3;
  EXPECT_EQ(tuning_candidates(large_group), (Plans{{4, 4}, {2, 4}, {1, 4}}));
  TuningKey unsupported = sample_tuning_key();
  unsupported.head_dim = 12;
  EXPECT_THROW(tuning_candidates(unsupported), UsageError);
}

TEST(TuningCandidatesTest, AreFewAtAnyLength) {
  TuningKey key = sample_tuning_key();
  key.page_size = 1;
  for (const std::int64_t slots : {std::int64_t{1}, std::int64_t{1} << 17, std::int64_t{1} << 40}) {
    key.longest_slots = key.total_slots = slots;
    const std::vector<TunedPlan> candidates = tuning_candidates(key);
    EXPECT_EQ(candidates.front().pages_per_chunk, slots);
    EXPECT_EQ(candidates.back().pages_per_chunk, 1);
    EXPECT_LE(candidates.size(), 2u * 81u);
  }
}

/// A block's fixed cost is worth more tokens where tokens are small; few bytes in flight want a
/// larger tile.
TEST(RecordedClockTest, DtypesAloneAndPageSizeAloneChangeTheChoice) {
  const TuningKey key = sample_tuning_key();
  const TunedPlan half = recorded(key);
  const TunedPlan wide = recorded(with_dtype(key, 2, Dtype::f32));
  EXPECT_GT(half.pages_per_chunk, wide.pages_per_chunk);
  EXPECT_GT(half.tile, wide.tile);
  TuningKey small_pages = key;
  small_pages.page_size = 8;
  EXPECT_NE(recorded(small_pages).pages_per_chunk, half.pages_per_chunk);
}

TEST(RecordedClockTest, CountsOnAsManyBlocksAsTheModuleOfThatArchitecturePromises) {
  EXPECT_EQ(compute_capability("sm_90a"), 90u);
  EXPECT_EQ(compute_capability("sm_120"), 120u);
  EXPECT_EQ(compute_capability("x86_64+avx2"), 0u);
  TuningKey key = sample_tuning_key();
  key.head_dim = 64;
  key.group_size = 4;
  const auto at_once = [&](const char* architecture) {
    return paged_decode_blocks_at_once(key.choice(), architecture);
  };
  EXPECT_EQ(at_once("x86_64+avx2"), 4);
  EXPECT_EQ(at_once("sm_90a"), 4);
  EXPECT_EQ(at_once("sm_120"), 3);
  // 32 blocks: one wave where four run at once, two where three do.
  key.batch = 32;
  key.total_slots = 32 * key.longest_slots;
  const TunedPlan whole{4, 4};
  key.architecture = "sm_90a";
  const double one_wave = RecordedClock().time(key, whole);
  key.architecture = "sm_120";
  EXPECT_EQ(RecordedClock().time(key, whole), 2 * one_wave);
}

TEST(RecordedClockTest, SplitsALongRowToFillTheDeviceAndLeavesManyRowsWhole) {
  TuningKey key = sample_tuning_key();
  key.multiprocessors = 132;
  key.kv_heads = 8;
  key.head_dim = 128;
  key.longest_slots = key.total_slots = 131072;
  key.batch = 1;
  const std::int64_t blocks = 8 * (key.longest_pages() / recorded(key).pages_per_chunk);
  EXPECT_GE(blocks, 132 * 2);
  EXPECT_LE(blocks, 132 * 4);
  key.batch = 64;
  key.longest_slots = 1024;
  key.total_slots = 65536;
  EXPECT_EQ(recorded(key).pages_per_chunk, key.longest_pages());
}

TEST(RecordedClockTest, SaysTheSameAgainAndAFiniteTimeOfEveryKey) {
  for (const auto& [field, key] : differing_tuning_keys()) {
    EXPECT_EQ(recorded(key), recorded(key)) << field;
    for (const TunedPlan& plan : tuning_candidates(key)) {
      const double time = RecordedClock().time(key, plan);
      EXPECT_GT(time, 0) << field;
      EXPECT_LT(time, std::numeric_limits<double>::infinity()) << field;
    }
  }
}

}  // namespace
}  // namespace parity
