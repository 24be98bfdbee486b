// What the execution model forbids ends the launch with an error that names the lines: never a
// hang.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/host_kernel.hpp"

namespace parity {
namespace {

std::string at_line(int line) {
  return "line " + std::to_string(line);
}

TEST(SimtFaultsTest, ABarrierThatCollectivesWaitForNamesBothLines) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 64) {
      if (thread_x() < 40)
        block_barrier();  // BARRIER
      else
        warp_barrier(0xffffffffu);  // COLLECTIVE
    })");
  EXPECT_TRUE(
      says(kernel.error(64, {1, 1, 1}),
           {"kernel 'probe', block (0, 0)", "cannot complete",
            "threads 0-39 wait at block_barrier (" + at_line(kernel.line("BARRIER")),
            "warp 1, lanes 8-31 wait at warp_barrier (" + at_line(kernel.line("COLLECTIVE")),
            "but lanes 0-7 wait elsewhere"}));
}

TEST(SimtFaultsTest, ALaneThatExitedIsMissed) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 32) {
      if (block_x() == 2 && lane_id() == 9) return;
      float v[4] = {};
      segment_sum<8>(0xffffffffu, v);  // SUM
    })");
  EXPECT_TRUE(says(kernel.error(32, {4, 1, 1}),
                   {"block (2, 0)", "segment_sum<8,4>", at_line(kernel.line("// SUM")),
                    "but lanes 9 have exited"}));
}

TEST(SimtFaultsTest, ALaneThatDoesNotExistIsMissed) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 64) { p.u[0] = ballot(0xffffffffu, true); })");
  std::uint32_t votes = 0;
  EXPECT_TRUE(says(kernel.error(48, {1, 1, 1}, {.u = &votes}), {"but lanes 16-31 do not exist"}));
}

TEST(SimtFaultsTest, LanesThatNameDifferentMasksNeverMeet) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 32) {
      const u32 mask = lane_id() < 16 ? 0xffffffffu : 0xffff0000u;
      float v[1] = {1};
      segment_max<16>(mask, v);
    })");
  EXPECT_TRUE(says(kernel.error(32), {"lanes 0-15 wait at segment_max<16,1>", "mask 0xffffffff",
                                      "16-31 have exited"}));
}

TEST(SimtFaultsTest, LanesInDifferentCollectivesNameBothLines) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 32) {
      if (lane_id() < 4)
        warp_barrier(0xffffffffu);  // FIRST
      else
        warp_barrier(0xffffffffu);  // SECOND
    })");
  EXPECT_TRUE(says(kernel.error(32), {"thread 4 at " + at_line(kernel.line("SECOND")),
                                      "another collective at " + at_line(kernel.line("FIRST"))}));
}

TEST(SimtFaultsTest, ThreadsInDifferentBarriersNameBothLines) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 64) {
      if (thread_x() < 32)
        block_barrier();  // FIRST
      else
        block_barrier();  // SECOND
    })");
  EXPECT_TRUE(
      says(kernel.error(64), {"thread 32 at " + at_line(kernel.line("SECOND")),
                              "another block_barrier at " + at_line(kernel.line("FIRST"))}));
}

TEST(SimtFaultsTest, AMaskMustHoldItsCaller) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 32) { warp_barrier(0x7fffffffu); })");
  EXPECT_TRUE(says(kernel.error(32), {"thread 31 ", "leaves out the lane"}));
}

TEST(SimtFaultsTest, AMaskMustHoldWholeSegments) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 32) {
      float v[1] = {1};
      if (lane_id() < 12) segment_sum<8>(0xfffu, v);
    })");
  EXPECT_TRUE(says(kernel.error(32), {"the mask splits a group of lanes"}));
}

TEST(SimtFaultsTest, AShuffleMustReadALaneOfItsMask) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 32) {
      if (lane_id() < 4) p.u[lane_id()] = shuffle(0xfu, 1u, p.n);
    })");
  std::array<std::uint32_t, 4> out{};
  EXPECT_TRUE(says(kernel.error(32, {}, {.u = out.data(), .n = 4}), {"not in the mask"}));
  EXPECT_TRUE(says(kernel.error(32, {}, {.u = out.data(), .n = 32}), {"not in the mask"}));
  EXPECT_EQ(kernel.error(32, {}, {.u = out.data(), .n = 3}), "");
}

TEST(SimtFaultsTest, SharedMemoryHasTheSizeOfAnH200Block) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 32) {
      PARITY_SHARED(u32, large, 32 * 1024);
      large[thread_x()] = 1;
      if (p.n == 1) {
        PARITY_SHARED(u32, more, 25 * 1024);  // MORE
        more[thread_x()] = 1;
      }
    })");
  EXPECT_EQ(kernel.error(32), "");
  EXPECT_TRUE(says(kernel.error(32, {}, {.n = 1}), {"227 KiB", at_line(kernel.line("MORE"))}));
}

TEST(SimtFaultsTest, LaunchesAfterAnErrorRunAsIfThereHadBeenNone) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 256) {
      PARITY_SHARED(u32, sum, 1);
      if (thread_x() == 0) sum[0] = 0;
      block_barrier();
      if (p.n == 1 && thread_x() == 77) return;
      atomic_add_acq_rel(sum, ballot(0xffffffffu, true) == 0xffffffffu ? 1u : 0u);
      block_barrier();
      if (thread_x() == 0) p.u[block_x()] = sum[0];
    })");
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::array<std::uint32_t, 2> seen{};
    EXPECT_TRUE(
        says(kernel.error(256, {2, 1, 1}, {.u = seen.data(), .n = 1}), {"lanes 13 have exited"}));
    EXPECT_EQ(kernel.error(256, {2, 1, 1}, {.u = seen.data(), .n = 0}), "");
    EXPECT_EQ(seen, (std::array<std::uint32_t, 2>{256, 256}));
  }
}

}  // namespace
}  // namespace parity
