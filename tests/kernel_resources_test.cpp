// ptxas's report as figures.
#include "device/kernel_resources.hpp"

#include <gtest/gtest.h>

#include <string>

#include "datasets/errors.hpp"

namespace parity {
namespace {

const std::string kHead = "ptxas info    : 0 bytes gmem\n";
const std::string kEntry =
    "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
    "ptxas info    : Function properties for k\n";
const std::string kFrame =
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
const std::string kUsed =
    "ptxas info    : Used 48 registers, used 1 barriers, 256 bytes smem, 364 bytes cmem[0]\n";

TEST(KernelResourcesTest, FiguresOfOneKernel) {
  EXPECT_EQ(read_ptxas_report(kHead + kEntry + kFrame + kUsed),
            (KernelResources{.registers = 48, .shared_bytes = 256}));
}

TEST(KernelResourcesTest, SpillsAndFramesAreRead) {
  EXPECT_EQ(
      read_ptxas_report(
          "ptxas info    : Overriding maximum register limit 256 for 'k' with  24 of maxrregcount "
          "option\n" +
          kEntry +
          "ptxas         .     104 bytes stack frame, 100 bytes spill stores, 148 bytes spill "
          "loads\n"
          "ptxas info    : Used 24 registers, used 0 barriers, 104 bytes cumulative stack size\n"),
      (KernelResources{
          .registers = 24, .stack_bytes = 104, .spill_stores = 100, .spill_loads = 148}));
}

TEST(KernelResourcesTest, TheWorstOfSeveralFunctionsCounts) {
  const std::string not_inlined =
      "ptxas info    : Function properties for callee\n"
      "ptxas         .     8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
  const std::string other = "ptxas info    : Compiling entry function 'other' for 'sm_80'\n" +
                            kFrame + "ptxas info    : Used 8 registers\n";
  EXPECT_EQ(read_ptxas_report(kEntry + kFrame + kUsed + not_inlined + other),
            (KernelResources{.registers = 48, .shared_bytes = 256, .stack_bytes = 8}));
}

/// Silence is no "nothing spills".
TEST(KernelResourcesTest, AReportThatLacksSomethingIsRefused) {
  for (const std::string& log : {std::string(), kHead, kFrame + kUsed, kEntry + kFrame,
                                 kEntry + kUsed, kEntry + kFrame + kUsed + kEntry + kFrame})
    EXPECT_THROW(read_ptxas_report(log), DeviceError) << log;
}

}  // namespace
}  // namespace parity
