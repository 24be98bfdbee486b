// The host backend: memory, identity, loading, and launches that it refuses.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/host_kernel.hpp"

namespace parity {
namespace {

constexpr const char* kNothing = "PARITY_KERNEL(probe, TestParams, 96) {}\n";

TEST(HostBackendTest, MemoryIsAlignedFilledAndCopied) {
  const auto backend = make_host_backend();
  for (const std::size_t bytes : {0, 1, 255, 256, 1000}) {
    void* const memory = backend->allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u) << bytes;
    std::vector<std::byte> written(bytes / 2, std::byte{7});
    backend->fill(memory, std::byte{0xfe}, bytes);
    backend->copy_in(memory, written);
    std::vector<std::byte> read(bytes);
    backend->copy_out(read, memory);
    for (std::size_t i = 0; i < bytes; ++i)
      ASSERT_EQ(read[i], i < bytes / 2 ? std::byte{7} : std::byte{0xfe}) << i;
    backend->release(memory);
  }
}

TEST(HostBackendTest, MemoryThatCannotBeHadIsAnError) {
  const auto backend = make_host_backend();
  EXPECT_TRUE(says(message_of<DeviceError>([&] { backend->allocate(~std::size_t{0}); }),
                   {"18446744073709551615 bytes"}));
}

TEST(HostBackendTest, IdentityNamesTheCpu) {
  const auto backend = make_host_backend();
  EXPECT_EQ(backend->name(), "host");
  EXPECT_EQ(backend->identity().driver, "host");
  EXPECT_FALSE(backend->identity().name.empty());
  EXPECT_EQ(backend->identity().architecture, make_host_toolchain()->identity().architecture);
}

/// Blocks with barriers, collectives and shared memory, from several host threads at a time.
TEST(HostBackendTest, LaunchesOfSeveralThreadsDoNotMeet) {
  HostKernel kernel(R"(
    PARITY_KERNEL(probe, TestParams, 64) {
      PARITY_SHARED(float, sums, 2);
      float sum[1] = {static_cast<float>(p.n + thread_x() % 32)};
      segment_sum<32>(0xffffffffu, sum);
      if (thread_x() % 32 == 0) sums[thread_x() / 32] = sum[0];
      block_barrier();
      if (thread_x() == 0) p.f[block_x()] = sums[0] + sums[1];
    }
  )");
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        for (std::uint32_t i = 0; i < 20; ++i) {
          std::vector<float> out(8);
          kernel.run({.f = out.data(), .n = thread * 100 + i}, 64, {8, 1, 1});
          const auto want = static_cast<float>(64 * (thread * 100 + i) + 2 * 496);
          for (const float sum : out) wrong += sum != want;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
}

TEST(HostBackendTest, LoadSaysWhatIsMissing) {
  HostKernel kernel(kNothing);
  TestFolder folder;
  EXPECT_TRUE(says(
      message_of<DeviceError>([&] { kernel.backend->load(folder.path() / "absent.so", "probe"); }),
      {"absent.so"}));
  EXPECT_TRUE(says(message_of<DeviceError>([&] {
                     kernel.backend->load(folder.write("cut.so",
                                                       "\x7f"
                                                       "ELF"),
                                          "probe");
                   }),
                   {"cut.so"}));
}

TEST(HostBackendTest, AModuleOfAnotherVersionIsRefused) {
  const std::string text = simt_text(
      "void entry(const void*) {}\n"
      "extern \"C\" {\n"
      "extern __attribute__((visibility(\"default\"))) const HostModule probe_module;\n"
      "const HostModule probe_module = {kHostAbiVersion + 1, 32, 8, &entry};\n"
      "}\n");
  TestFolder folder;
  const auto image = make_host_toolchain()->compile(text, folder.write("probe.cu", text).string());
  const std::string bytes(reinterpret_cast<const char*>(image.data()), image.size());
  const auto file = folder.write("probe.so", bytes);
  const auto backend = make_host_backend();
  EXPECT_TRUE(says(message_of<DeviceError>([&] { backend->load(file, "probe"); }), {"version"}));
  EXPECT_TRUE(
      says(message_of<DeviceError>([&] { backend->load(file, "other"); }), {"no kernel 'other'"}));
}

TEST(HostBackendTest, LaunchesThatAGpuRefusesAreRefused) {
  HostKernel kernel(kNothing);
  const TestParams params;
  const auto launch = [&](Dim3 grid, Dim3 block, std::size_t params_bytes = sizeof(TestParams)) {
    return [&kernel, &params, grid, block, params_bytes] {
      kernel.backend->launch(kernel.module(), {.grid = grid, .block = block}, &params,
                             params_bytes);
    };
  };
  EXPECT_NO_THROW(launch({1, 65535, 1}, {1, 1, 1})());
  EXPECT_TRUE(says(message_of<DeviceError>(launch({0, 1, 1}, {96, 1, 1})), {"grid 0x1x1"}));
  EXPECT_TRUE(says(message_of<DeviceError>(launch({1, 65536, 1}, {96, 1, 1})), {"1x65536x1"}));
  EXPECT_TRUE(says(message_of<DeviceError>(launch({1, 1, 2}, {96, 1, 1})), {"grid 1x1x2"}));
  EXPECT_TRUE(says(message_of<DeviceError>(launch({1, 1, 1}, {97, 1, 1})), {"takes 1..96"}));
  EXPECT_TRUE(says(message_of<DeviceError>(launch({1, 1, 1}, {32, 2, 1})), {"block 32x2x1"}));
  EXPECT_TRUE(says(message_of<DeviceError>(launch({1, 1, 1}, {32, 1, 1}, 8)), {"8 bytes"}));
}

}  // namespace
}  // namespace parity
