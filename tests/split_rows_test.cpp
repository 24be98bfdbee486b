// Cutting rows into chunks: what every plan holds, and what `auto` chooses.
#include "device/split_rows.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "device/paged_decode_v2.hpp"

namespace parity {
namespace {

constexpr SplitDevice kDevice{.multiprocessors = 132, .blocks_per_multiprocessor = 4};

/// page_indptr of rows with these numbers of pages.
std::vector<std::int32_t> indptr_of(const std::vector<std::int32_t>& pages) {
  std::vector<std::int32_t> indptr(pages.size() + 1);
  std::partial_sum(pages.begin(), pages.end(), indptr.begin() + 1);
  return indptr;
}

SplitPlan cut(const std::vector<std::int32_t>& pages, std::int64_t pages_per_chunk) {
  return split_rows(indptr_of(pages), 16, pages_per_chunk, 8, kDevice);
}

std::int64_t chosen(const std::vector<std::int32_t>& pages, std::int64_t blocks_per_chunk = 8) {
  return split_rows(indptr_of(pages), 16, kAutoPagesPerChunk, blocks_per_chunk, kDevice)
      .pages_per_chunk;
}

TEST(SplitRowsTest, ChunksAreThePrefixSumOfPagesRoundedUp) {
  const SplitPlan plan = cut({5, 1, 4}, 2);
  EXPECT_EQ(plan.o_indptr, (std::vector<std::int32_t>{0, 3, 4, 6}));
  EXPECT_EQ(plan.chunk_row, (std::vector<std::int32_t>{0, 0, 0, 1, 2, 2}));
  EXPECT_TRUE(plan.needs_merge());
}

TEST(SplitRowsTest, TheLongestChunkLeavesRowsWhole) {
  const SplitPlan plan = cut({5, 0, 4}, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(plan.o_indptr, (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_FALSE(plan.needs_merge());
}

TEST(SplitRowsTest, ARowWithoutPagesGetsOneChunk) {
  const SplitPlan plan = cut({0, 3, 0}, 1);
  EXPECT_EQ(plan.o_indptr, (std::vector<std::int32_t>{0, 1, 4, 5}));
  EXPECT_EQ(plan.chunk_row, (std::vector<std::int32_t>{0, 1, 1, 1, 2}));
}

TEST(SplitRowsTest, NothingIsMergedWhereEveryRowIsOneChunk) {
  for (const std::int64_t all :
       {std::int64_t{5}, std::int64_t{100000}, std::numeric_limits<std::int64_t>::max()}) {
    const SplitPlan plan = cut({5, 0, 2}, all);
    EXPECT_EQ(plan.chunks(), 3);
    EXPECT_FALSE(plan.needs_merge());
  }
  EXPECT_FALSE(cut({}, 1).needs_merge());
  EXPECT_EQ(cut({}, kAutoPagesPerChunk).chunks(), 0);
}

TEST(SplitRowsTest, NegativePagesPerChunkAreRefused) {
  try {
    cut({4}, -1);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "paged_decode_v2: pages_per_chunk is -1, but must be at least 1, or 0 to have it "
              "chosen");
  }
}

/// 1 x 131072 tokens with 8 kv heads would be 8 blocks on 132 multiprocessors.
TEST(SplitRowsTest, AutoFillsTheDeviceFromOneLongRow) {
  const std::int64_t pages_per_chunk = chosen({8192});
  const std::int64_t blocks = 8 * cut({8192}, pages_per_chunk).chunks();
  EXPECT_GE(blocks, 132 * 3);
  EXPECT_LE(blocks, 132 * 4) << "one wave";
}

TEST(SplitRowsTest, AutoLeavesRowsWholeWhereTheyFillTheDevice) {
  EXPECT_EQ(chosen(std::vector<std::int32_t>(66, 64)), 64) << "66 rows, 8 blocks each: one wave";
  EXPECT_EQ(chosen({1}), 1);
}

TEST(SplitRowsTest, AutoFollowsTheDeviceAndTheShapes) {
  EXPECT_NE(chosen({8192}, 8), chosen({8192}, 64));
  const auto on = [](std::int64_t multiprocessors) {
    return split_rows({0, 8192}, 16, kAutoPagesPerChunk, 8, {multiprocessors, 4}).pages_per_chunk;
  };
  EXPECT_GT(on(16), on(132));
}

TEST(SplitRowsTest, AutoCutsTheLongestRowEvenly) {
  for (const std::int32_t pages : {7, 100, 257, 1023, 8192}) {
    const std::int64_t length = chosen({pages});
    const std::int64_t chunks = (pages + length - 1) / length;
    EXPECT_EQ((pages + chunks - 1) / chunks, length) << pages;
  }
}

/// B7.
TEST(SplitRowsTest, TheWorkspaceHoldsPartialsInF32WhateverTheOutput) {
  EXPECT_EQ(paged_decode_v2_workspace_bytes(32, 32, 128), 528384);
  EXPECT_EQ(paged_decode_v2_workspace_bytes(0, 32, 128), 0);
}

}  // namespace
}  // namespace parity
