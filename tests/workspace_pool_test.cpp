// The workspace pool: what a request finds, who had it last, and that it can be read, restored and
// set.
#include "device/workspace_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "datasets/errors.hpp"
#include "fake_device.hpp"

namespace parity {
namespace {

const WorkspaceKey kPartials{"paged_decode_v2", "partials"};
const WorkspaceKey kOther{"paged_decode_v2", "scores"};

std::vector<std::uint8_t> bytes_of(const DeviceTensor& tensor, std::size_t first) {
  std::vector<std::uint8_t> bytes(first);
  std::memcpy(bytes.data(), tensor.data, bytes.size());
  return bytes;
}

std::vector<std::uint8_t> bytes_of(const DeviceTensor& tensor) {
  return bytes_of(tensor, tensor.type.bytes());
}

void write(const DeviceTensor& tensor, const std::string& text) {
  ASSERT_LE(text.size(), tensor.type.bytes());
  std::memcpy(tensor.data, text.data(), text.size());
}

class WorkspacePoolTest : public testing::Test {
 protected:
  DeviceTensor get(std::size_t bytes, const std::string& run, const WorkspaceKey& key = kPartials) {
    trace_.begin(run);
    return pool_.lease(key, bytes, trace_).memory;
  }
  CellTouch last_touch() {
    const std::vector<CellTouch> touches = trace_.take();
    EXPECT_EQ(touches.size(), 1u);
    return touches.empty() ? CellTouch{} : touches.front();
  }

  FakeBackend backend_;
  Trace trace_;
  WorkspacePool pool_{backend_, Faults{}};
};

TEST_F(WorkspacePoolTest, AFreshBlockHoldsNothingToRelyOn) {
  const DeviceTensor block = get(5, "a");
  EXPECT_EQ(block.type, (TensorType{Dtype::u8, {5}}));
  EXPECT_EQ(bytes_of(block), std::vector<std::uint8_t>(5, 0xff));
}

TEST_F(WorkspacePoolTest, ContentStaysForTheNextRequestThatFits) {
  const DeviceTensor first = get(8, "a");
  write(first, "leftover");
  const DeviceTensor second = get(4, "b");
  EXPECT_EQ(second.data, first.data);
  EXPECT_EQ(second.type, (TensorType{Dtype::u8, {4}}));
  EXPECT_EQ(bytes_of(second), (std::vector<std::uint8_t>{'l', 'e', 'f', 't'}));
  EXPECT_EQ(get(8, "c").data, first.data) << "a smaller request does not shrink the block";
}

TEST_F(WorkspacePoolTest, ALargerRequestGetsAFreshBlock) {
  write(get(4, "a"), "left");
  EXPECT_EQ(bytes_of(get(8, "b")), std::vector<std::uint8_t>(8, 0xff));
  EXPECT_EQ(backend_.allocations, 1) << "the old block is released";
}

TEST_F(WorkspacePoolTest, WhatIsWrittenOutsideABlockIsSeenOnce) {
  using Names = std::vector<std::string>;
  auto* const content = static_cast<std::uint8_t*>(get(5, "a").data);
  get(5, "a", kOther);
  std::memset(content, 7, 5);
  EXPECT_EQ(pool_.broken_guards(trace_), Names{}) << "inside";
  const Names partials = {"workspace paged_decode_v2/partials"};
  for (const std::ptrdiff_t at :
       {std::ptrdiff_t{-4096}, std::ptrdiff_t{-1}, std::ptrdiff_t{5}, std::ptrdiff_t{5 + 4095}}) {
    content[at] = 7;
    EXPECT_EQ(pool_.broken_guards(trace_), partials) << at;
    EXPECT_EQ(pool_.broken_guards(trace_), Names{}) << "mended, so that the next run is not blamed";
  }
  EXPECT_EQ(content[4], 7) << "the content is left as it was";
}

TEST_F(WorkspacePoolTest, ABrokenGuardIsOfTheRunThatHadTheBlockLast) {
  auto* const content = static_cast<std::uint8_t*>(get(5, "a").data);
  Trace other;
  other.begin("b");
  content[5] = 7;
  EXPECT_TRUE(pool_.broken_guards(other).empty());
  EXPECT_EQ(pool_.broken_guards(trace_).size(), 1u);
}

TEST_F(WorkspacePoolTest, ABlockThatWasSetOrReplacedHasGuards) {
  pool_.set({{kPartials.canonical(), "0102030405060708"}});
  auto* content = static_cast<std::uint8_t*>(get(8, "a").data);
  content[8] = 7;
  EXPECT_EQ(pool_.broken_guards(trace_).size(), 1u);
  content = static_cast<std::uint8_t*>(get(9, "a").data);
  content[8] = 7;
  EXPECT_TRUE(pool_.broken_guards(trace_).empty());
  content[9] = 7;
  EXPECT_EQ(pool_.broken_guards(trace_).size(), 1u);
}

TEST_F(WorkspacePoolTest, UsesDoNotShareABlock) {
  write(get(4, "a"), "left");
  EXPECT_EQ(bytes_of(get(4, "a", kOther)), std::vector<std::uint8_t>(4, 0xff));
}

TEST_F(WorkspacePoolTest, TouchesNameTheRunThatHadTheBlockLast) {
  const std::string cell = "paged_decode_v2/partials";
  get(8, "a");
  EXPECT_EQ(last_touch(), (CellTouch{"workspace_pool", cell, true, "", "", "a"}));
  get(8, "b");
  EXPECT_EQ(last_touch(), (CellTouch{"workspace_pool", cell, false, "", "", "a"}));
  get(4, "c");
  EXPECT_EQ(last_touch(), (CellTouch{"workspace_pool", cell, false, "", "", "b"}));
  get(16, "d");
  EXPECT_EQ(last_touch(), (CellTouch{"workspace_pool", cell, true, "", "", "d"}));
}

TEST_F(WorkspacePoolTest, SnapshotIsTheContentInHexadecimal) {
  EXPECT_TRUE(pool_.snapshot().empty());
  write(get(4, "a", kOther), std::string("\x00\x7f\xa5", 3));
  get(2, "a");
  EXPECT_EQ(pool_.snapshot(), (std::vector<CellState>{{"paged_decode_v2/partials", "ffff"},
                                                      {"paged_decode_v2/scores", "007fa5ff"}}));
}

TEST_F(WorkspacePoolTest, RestoreForgetsEveryBlock) {
  write(get(4, "a"), "left");
  pool_.restore();
  EXPECT_EQ(backend_.allocations, 0);
  EXPECT_TRUE(pool_.snapshot().empty());
  EXPECT_EQ(bytes_of(get(4, "b")), std::vector<std::uint8_t>(4, 0xff));
  EXPECT_TRUE(last_touch().wrote);
}

TEST_F(WorkspacePoolTest, SetMakesExactlyWhatASnapshotSaw) {
  write(get(4, "a"), "left");
  const std::vector<CellState> seen = pool_.snapshot();
  WorkspacePool other(backend_, {});
  other.lease(kOther, 100, trace_);
  other.set(seen);
  EXPECT_EQ(other.snapshot(), seen);
  trace_.begin("b");
  EXPECT_EQ(bytes_of(other.lease(kPartials, 4, trace_).memory),
            (std::vector<std::uint8_t>{'l', 'e', 'f', 't'}));
  EXPECT_EQ(last_touch(),
            (CellTouch{"workspace_pool", "paged_decode_v2/partials", false, "", "", ""}));
}

TEST_F(WorkspacePoolTest, WhatCannotBeSetIsRefusedAndChangesNothing) {
  write(get(4, "a"), "left");
  const std::vector<CellState> before = pool_.snapshot();
  const std::vector<std::vector<CellState>> malformed = {
      {{"no slash", "00"}}, {{"/partials", "00"}}, {{"kernel/", "00"}},           {{"a/b", "0"}},
      {{"a/b", "0g"}},      {{"a/b", "+1"}},       {{"a/b", "00"}, {"a/c", "xx"}}};
  for (const std::vector<CellState>& cells : malformed) {
    EXPECT_THROW(pool_.set(cells), UsageError) << cells.back().cell << " " << cells.back().content;
    EXPECT_EQ(pool_.snapshot(), before);
  }
}

TEST_F(WorkspacePoolTest, ASnapshotRefusesWhatWouldNotFitALine) {
  get(std::size_t{8} << 20, "a");
  EXPECT_EQ(pool_.snapshot().at(0).content.size(), std::size_t{16} << 20);
  get((std::size_t{8} << 20) + 1, "b");
  EXPECT_THROW(pool_.snapshot(), UsageError);
}

TEST_F(WorkspacePoolTest, PlantedDirtyWorkspaceStartsAtMinusInfinity) {
  WorkspacePool planted(backend_, {.dirty_workspace = true});
  const DeviceTensor block = planted.lease(kPartials, 8, trace_).memory;
  std::vector<float> values(2);
  std::memcpy(values.data(), block.data, 8);
  EXPECT_EQ(values, std::vector<float>(2, -std::numeric_limits<float>::infinity()));
}

/// What one thread has written is there when it reads it back: nobody else had the block meanwhile.
TEST_F(WorkspacePoolTest, ABlockBelongsToOneThreadUntilItIsReturned) {
  std::atomic<int> disturbed = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        Trace trace;
        for (std::size_t i = 0; i < 50; ++i) {
          // Now and then a larger block, which replaces the one that others have just had.
          const WorkspaceLease lease = pool_.lease(kPartials, 64 + 8 * i, trace);
          std::memset(lease.memory.data, thread, 64);
          std::this_thread::yield();
          for (const std::uint8_t byte : bytes_of(lease.memory, 64)) disturbed += byte != thread;
        }
      });
  }
  EXPECT_EQ(disturbed, 0);
}

TEST_F(WorkspacePoolTest, UsesAreHeldIndependently) {
  const WorkspaceLease first = pool_.lease(kPartials, 8, trace_);
  const WorkspaceLease second = pool_.lease(kOther, 8, trace_);
  EXPECT_NE(first.memory.data, second.memory.data);
}

TEST(WorkspaceKeyTest, ReadsBackWhatItWrites) {
  EXPECT_EQ(kPartials.canonical(), "paged_decode_v2/partials");
  EXPECT_EQ(WorkspaceKey::parse(kPartials.canonical()), kPartials);
}

}  // namespace
}  // namespace parity
