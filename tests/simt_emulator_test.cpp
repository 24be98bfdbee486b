// The execution model of kernel text on the host: coordinates, shared memory, barriers,
// collectives.
#include "device/simt_emulator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "tests/host_kernel.hpp"

namespace parity {
namespace {

TEST(SimtEmulatorTest, CoordinatesAreThoseOfTheGrid) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 128) {
      const u32 at = ((block_y() * grid_x() + block_x()) * block_threads() + thread_x()) * 4;
      p.u[at] = block_x() + 100 * block_y();
      p.u[at + 1] = lane_id() + 100 * warp_id();
      p.u[at + 2] = thread_x() + 1000 * block_threads();
      p.u[at + 3] = grid_x() + p.n;
    })");
  constexpr std::uint32_t kThreads = 70;  // the last warp has 6 lanes
  std::vector<std::uint32_t> seen(3 * 2 * kThreads * 4);
  kernel.run({.u = seen.data(), .n = 50}, kThreads, {3, 2, 1});
  std::vector<std::uint32_t> expected;
  for (std::uint32_t y = 0; y < 2; ++y)
    for (std::uint32_t x = 0; x < 3; ++x)
      for (std::uint32_t thread = 0; thread < kThreads; ++thread)
        for (const std::uint32_t value :
             {x + 100 * y, thread % 32 + 100 * (thread / 32), thread + 1000 * kThreads, 53u})
          expected.push_back(value);
  EXPECT_EQ(seen, expected);
}

TEST(SimtEmulatorTest, BarrierSeparatesWritesFromReads) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 1024) {
      PARITY_SHARED(u32, tile, 1024);
      u32 value = thread_x();
      for (u32 round = 0; round < 3; ++round) {
        tile[thread_x()] = value + 1;
        block_barrier();
        value = tile[1023 - thread_x()];
        block_barrier();
      }
      p.u[thread_x()] = value;
    })");
  std::vector<std::uint32_t> seen(1024);
  kernel.run({.u = seen.data()}, 1024);
  for (std::uint32_t thread = 0; thread < 1024; ++thread)
    ASSERT_EQ(seen[thread], 1023 - thread + 3) << thread;
}

TEST(SimtEmulatorTest, SharedMemoryIsPoisonedAtTheStartOfEveryBlock) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 32) {
      PARITY_SHARED(u32, fixed, 33);
      PARITY_DYNAMIC_SHARED(u32, dynamic);
      if (thread_x() == 0) {
        u32 all = 0xffffffffu;
        for (u32 i = 0; i < 33; ++i) all &= fixed[i];
        for (u32 i = 0; i < p.n; ++i) all &= dynamic[i];
        p.u[block_x()] = all;
        for (u32 i = 0; i < 33; ++i) fixed[i] = 0;
        for (u32 i = 0; i < p.n; ++i) dynamic[i] = 0;
      }
    })");
  std::array<std::uint32_t, 3> seen{};
  kernel.run({.u = seen.data(), .n = 25}, 32, {3, 1, 1}, 100);
  EXPECT_EQ(seen, (std::array<std::uint32_t, 3>{~0u, ~0u, ~0u}));
}

TEST(SimtEmulatorTest, EveryInstantiationHasItsOwnSharedArray) {
  HostKernel kernel(R"(
    template <u32 Count>
    PARITY_DEVICE u32* array() {
      PARITY_SHARED(u32, values, Count);
      static_assert(sizeof(values) == 4 * Count);
      return values;
    }
    PARITY_KERNEL(probe, TestParams, 32) {
      if (thread_x() != 0) return;
      array<4>()[3] = 7;
      array<5>()[3] = 8;
      p.u[0] = array<4>()[3];
      p.u[1] = array<5>()[3];
      p.u[2] = reinterpret_cast<u64>(array<5>()) % 16;
    })");
  std::array<std::uint32_t, 3> seen{9, 9, 9};
  kernel.run({.u = seen.data()}, 32);
  EXPECT_EQ(seen, (std::array<std::uint32_t, 3>{7, 8, 0}));
}

TEST(SimtEmulatorTest, SegmentSumOfEveryWidthAddsInButterflyOrder) {
  HostKernel kernel(R"(
    template <u32 Lanes>
    PARITY_DEVICE void sums(const TestParams& p, float* out) {
      float v[2] = {p.f[thread_x()], p.f[63 - thread_x()]};
      segment_sum<Lanes>(0xffffffffu, v);
      out[thread_x() * 2] = v[0];
      out[thread_x() * 2 + 1] = v[1];
    }
    PARITY_KERNEL(probe, TestParams, 64) {
      sums<1>(p, p.f + 64);
      sums<2>(p, p.f + 64 + 128);
      sums<4>(p, p.f + 64 + 2 * 128);
      sums<8>(p, p.f + 64 + 3 * 128);
      sums<16>(p, p.f + 64 + 4 * 128);
      sums<32>(p, p.f + 64 + 5 * 128);
    })");
  std::vector<float> data(64 + 6 * 128);
  for (int i = 0; i < 64; ++i)
    data[i] = 1.0f / static_cast<float>(3 * i + 1);  // sums depend on order
  const auto input = [&](int value, int lane) { return data[value == 0 ? lane : 63 - lane]; };
  kernel.run({.f = data.data()}, 64);
  for (int width = 0; width < 6; ++width)
    for (int value = 0; value < 2; ++value) {
      std::array<float, 64> lanes;
      for (int lane = 0; lane < 64; ++lane) lanes[lane] = input(value, lane);
      for (int distance = 1; distance < 1 << width; distance *= 2) {
        const std::array<float, 64> before = lanes;
        for (int lane = 0; lane < 64; ++lane) lanes[lane] = before[lane] + before[lane ^ distance];
      }
      for (int lane = 0; lane < 64; ++lane)
        ASSERT_EQ(data[64 + width * 128 + lane * 2 + value], lanes[lane]) << width << " " << lane;
    }
}

TEST(SimtEmulatorTest, SegmentMaxIgnoresNanAndPrefersPositiveZero) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 32) {
      float v[1] = {p.f[thread_x()]};
      segment_max<4>(0xffffffffu, v);
      p.f[thread_x()] = v[0];
    })");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> data(32, nan);
  const std::array<float, 16> groups = {nan, -3,   nan, -5,  -0.0f, 0.0f, -0.0f, -0.0f,
                                        nan, -inf, nan, nan, 1,     2,    4,     3};
  std::copy(groups.begin(), groups.end(), data.begin());
  kernel.run({.f = data.data()}, 32);
  for (int lane = 0; lane < 4; ++lane) {
    EXPECT_EQ(data[lane], -3.0f);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(data[4 + lane]), 0u);
    EXPECT_EQ(data[8 + lane], -inf);
    EXPECT_EQ(data[12 + lane], 4.0f);
    EXPECT_TRUE(std::isnan(data[16 + lane]));
  }
}

TEST(SimtEmulatorTest, ShuffleReadsTheNamedLane) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 32) {
      const u32 lane = lane_id();
      p.u[lane] = shuffle(0xffffffffu, 10 * lane, (lane + 5) % 32);
      const u64 wide = shuffle<u64>(0xffffffffu, u64{lane} << 40, 3);
      p.u[32 + lane] = static_cast<u32>(wide >> 40);
      p.f[lane] = shuffle(0xffffffffu, 0.5f * lane, lane ^ 1);
    })");
  std::array<std::uint32_t, 64> seen{};
  std::array<float, 32> halves{};
  kernel.run({.f = halves.data(), .u = seen.data()}, 32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(seen[lane], 10 * ((lane + 5) % 32));
    EXPECT_EQ(seen[32 + lane], 3u);
    EXPECT_EQ(halves[lane], 0.5f * static_cast<float>(lane ^ 1));
  }
}

TEST(SimtEmulatorTest, DivergentGroupsMeetUnderTheirOwnMasks) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 48) {
      const u32 lane = lane_id();
      if (lane % 2 == 0) {
        const u32 even = warp_id() == 0 ? 0x55555555u : 0x5555u;
        p.u[thread_x()] = ballot(even, lane % 4 == 0);
        warp_barrier(even);
      } else {
        const u32 odd = warp_id() == 0 ? 0xaaaaaaaau : 0xaaaau;
        p.u[thread_x()] = any(odd, lane == 15) + 10 * any(odd, lane == 0);
      }
    })");
  std::array<std::uint32_t, 48> seen{};
  kernel.run({.u = seen.data()}, 48);
  for (std::uint32_t thread = 0; thread < 48; ++thread)
    EXPECT_EQ(seen[thread], thread % 2 == 1 ? 1u : thread < 32 ? 0x11111111u : 0x1111u) << thread;
}

TEST(SimtEmulatorTest, ExitedThreadsLeaveBarriers) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 100) {
      PARITY_SHARED(u32, flag, 1);
      if (thread_x() % 3 == 0) return;
      if (thread_x() == 1) flag[0] = 42;
      block_barrier();
      const u32 seen = flag[0];
      if (thread_x() > 50) return;
      block_barrier();
      p.u[thread_x()] = seen;
    })");
  std::array<std::uint32_t, 100> seen{};
  kernel.run({.u = seen.data()}, 100);
  for (std::uint32_t thread = 0; thread < 100; ++thread)
    EXPECT_EQ(seen[thread], thread % 3 != 0 && thread <= 50 ? 42u : 0u) << thread;
}

TEST(SimtEmulatorTest, TheLastOfManyBlocksSeesTheWholeCount) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 32) {
      if (thread_x() != 0) return;
      const u32 before = atomic_add_acq_rel(p.u, 1u);
      const i32 signed_before = atomic_add_acq_rel(reinterpret_cast<i32*>(p.u + 1), -1);
      if (before == grid_x() * p.n - 1) p.u[2] = 1000000u + static_cast<u32>(-signed_before);
    })");
  std::array<std::uint32_t, 3> seen{};
  kernel.run({.u = seen.data(), .n = 2}, 32, {5000, 2, 1});
  EXPECT_EQ(seen,
            (std::array<std::uint32_t, 3>{10000, static_cast<std::uint32_t>(-10000), 1009999}));
}

TEST(SimtEmulatorTest, ThreadsRunInTheFloatingPointModeOfTheLauncher) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 32) {
      const float third = p.f[0] / p.f[1];
      block_barrier();
      p.f[2 + thread_x()] = third;
    })");
  const auto third_in = [&](int rounding) {
    std::array<float, 34> data{1.0f, 3.0f};
    std::fesetround(rounding);
    kernel.run({.f = data.data()}, 32);
    std::fesetround(FE_TONEAREST);
    return std::pair(data[2], data[33]);
  };
  const float nearest = 1.0f / 3.0f;  // above a third
  const float below = std::nextafter(nearest, 0.0f);
  EXPECT_EQ(third_in(FE_TONEAREST), std::pair(nearest, nearest));
  EXPECT_EQ(third_in(FE_DOWNWARD), std::pair(below, below));
  EXPECT_EQ(third_in(FE_TONEAREST), std::pair(nearest, nearest));
}

TEST(SimtEmulatorTest, LaunchesThatNoBlockCanHoldAreRefused) {
  SimtEmulator emulator;
  const auto launch = [&](std::uint32_t threads, std::size_t shared) {
    emulator.run({.kernel = "k",
                  .entry = [](const void*) {},
                  .params = nullptr,
                  .block_threads = threads,
                  .dynamic_shared_bytes = shared});
  };
  EXPECT_THROW(launch(0, 0), DeviceError);
  EXPECT_THROW(launch(kMaxBlockThreads + 1, 0), DeviceError);
  EXPECT_THROW(launch(32, kMaxSharedBytes + 1), DeviceError);
  EXPECT_NO_THROW(launch(kMaxBlockThreads, kMaxSharedBytes));
}

}  // namespace
}  // namespace parity
