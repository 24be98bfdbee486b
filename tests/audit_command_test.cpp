// harness audit from outside: this very program's keys, and whether it would have noticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "harness/kernel_spec.hpp"
#include "tests/harness_process.hpp"

namespace parity::test {
namespace {

class AuditCommandTest : public ::testing::Test {
 protected:
  Ran harness(const std::string& arguments, const std::string& environment = "") {
    return run_harness(scratch_.path(), arguments, environment);
  }
  static bool has_line(const std::string& text, const std::string& start) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(start)) return true;
    return false;
  }

  TemporaryFolder scratch_;
};

/// This is how CI audits: it fails here, with the kernel's name.
TEST_F(AuditCommandTest, EveryModuleOfThisProgramHasAKeyOfItsOwn) {
  const Ran ran = harness("audit");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  for (const KernelSpec& kernel : registry())
    EXPECT_TRUE(has_line(ran.out, kernel.name + " ")) << ran.out;
  EXPECT_TRUE(has_line(ran.out, "keys made for ")) << ran.out;
}

TEST_F(AuditCommandTest, TheWeakModuleKeyIsFoundInEveryKernel) {
  const Ran ran = harness("audit --plant weak_module_key");
  EXPECT_EQ(ran.exit_code, 3) << ran.out << ran.err;
  for (const KernelSpec& kernel : registry()) {
    EXPECT_TRUE(has_line(ran.out, kernel.name + ": two specs have one key")) << ran.out;
    EXPECT_NE(ran.out.find(kernel.entry_point + "("), std::string::npos) << ran.out;
  }
}

TEST_F(AuditCommandTest, NeitherCompilerNorGpuIsNeeded) {
  const Ran ran = harness("audit", "CXX=no-such-compiler CUDA_VISIBLE_DEVICES=-1");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.out.find("keys made for host"), std::string::npos) << ran.out;
}

TEST_F(AuditCommandTest, WhatItDoesNotKnowIsRefusedInOneLine) {
  for (const char* arguments :
       {"--plant no_such", "--compile ''", "--sample 3", "--filter x", "--seed 1", "--no-such"}) {
    const Ran ran = harness(std::string("audit ") + arguments);
    EXPECT_EQ(ran.exit_code, 2) << arguments;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

#if PARITY_HAVE_CUDA
TEST_F(AuditCommandTest, AnUnknownArchitectureIsAUsageError) {
  for (const std::string architecture : {"sm_999", "sm_80a", "nonsense"}) {
    const Ran ran = harness("audit --compile " + architecture);
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_NE(ran.err.find(architecture), std::string::npos) << ran.err;
  }
}

TEST_F(AuditCommandTest, CompilingTellsTheWorstOfEachKernelAndArchitecture) {
  const Ran ran = harness(
      "audit --compile sm_80,sm_90a --sample 0 "
      "--filter 'split_kv_merge/v=bf16,out=f32/d=64,h=8/single'");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_TRUE(has_line(ran.out, "split_kv_merge   sm_80 ")) << ran.out;
  EXPECT_TRUE(has_line(ran.out, "split_kv_merge   sm_90a ")) << ran.out;
}
#else
TEST_F(AuditCommandTest, CompilingWithoutCudaIsAnInfrastructureError) {
  const Ran ran = harness("audit --compile sm_80");
  EXPECT_EQ(ran.exit_code, 5) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("built without CUDA"), std::string::npos) << ran.err;
}
#endif

}  // namespace
}  // namespace parity::test
