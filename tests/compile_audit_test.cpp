// Modules compiled for GPUs that are not there. Built only where the CUDA Toolkit is.
#include "harness/audit/compile_audit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "datasets/errors.hpp"
#include "harness/case.hpp"
#include "harness/kernels/launch_variant.hpp"

namespace parity {
namespace {

/// The kernel with the first of its smoke cases alone.
KernelSpec one_case_of(KernelSpec kernel) {
  kernel.smoke.resize(1);
  return kernel;
}

KernelSpec merge() {
  return one_case_of(*std::ranges::find(registry(), "split_kv_merge", &KernelSpec::name));
}

/// Minutes of one core in all; what .ci/nightly adds are other architectures and a sample.
TEST(CompileAuditTest, EveryModuleOfSmokeFitsWithoutLocalMemory) {
  std::set<VariantSpec> modules;
  std::set<std::pair<std::string, std::string>> expected;
  const std::vector<std::string> architectures = {"sm_80", "sm_90a"};
  for (const Case& c : suite_cases(registry(), Suite::smoke))
    for (const VariantSpec& module : c.spec->modules(c)) {
      modules.insert(module);
      for (const std::string& architecture : architectures)
        expected.emplace(module.kernel, architecture);
    }
  EXPECT_GE(expected.size(), 2 * registry().size());
  const CompileAudit audit = compile_audit(registry(), {.architectures = architectures});
  EXPECT_EQ(audit.modules, modules.size()) << "each once";
  std::set<std::pair<std::string, std::string>> seen;
  std::int64_t shared_bytes = 0;
  for (const WorstFigures& worst : audit.worst) {
    seen.emplace(worst.kernel, worst.architecture);
    EXPECT_GE(worst.modules, 1u);
    EXPECT_GT(worst.resources.registers, 8) << worst.kernel;
    EXPECT_LE(worst.resources.registers, 255) << worst.kernel;
    shared_bytes += worst.resources.shared_bytes;
  }
  EXPECT_GT(shared_bytes, 0) << "some kernel has shared memory";
  EXPECT_EQ(seen, expected);
  for (const ModuleFault& fault : audit.faults)
    ADD_FAILURE() << fault.spec.canonical() << " for " << fault.architecture << ": "
                  << fault.resources.stack_bytes << " B of local memory, " << fault.refused;
}

/// Its 64 sums live all at once, and a block of 1024 threads leaves each 64 registers at most, 32
/// with two blocks.
constexpr const char* kSpilling = R"(
extern "C" __global__ void __launch_bounds__(1024, 2) split_kv_merge(const float* x, float* y) {
  float sum[64];
  #pragma unroll
  for (int i = 0; i < 64; ++i) sum[i] = x[i * 1024 + threadIdx.x];
  for (int step = 0; step < 1000; ++step)
    #pragma unroll
    for (int i = 0; i < 64; ++i) sum[i] = sum[i] * sum[(i + 1) % 64] + x[step];
  #pragma unroll
  for (int i = 0; i < 64; ++i) y[i * 1024 + threadIdx.x] = sum[i];
})";

/// Which element is read is known only when it runs, so the array needs an address.
constexpr const char* kFramed = R"(
extern "C" __global__ void split_kv_merge(const float* x, float* y, int at) {
  float kept[100];
  for (int i = 0; i < 100; ++i) kept[i] = x[(i * at) % 100];
  for (int i = 0; i < 100; ++i) y[i] = kept[(i * i + at) % 100];
})";

ModuleFault only_fault(KernelSpec kernel, const char* text) {
  const CompileAudit audit =
      compile_audit({&kernel, 1}, {.architectures = {"sm_80"}}, {{"split_kv_merge.cuh", text}});
  EXPECT_EQ(audit.faults.size(), 1u);
  kernel.local_bytes = 100000;
  EXPECT_TRUE(
      compile_audit({&kernel, 1}, {.architectures = {"sm_80"}}, {{"split_kv_merge.cuh", text}})
          .faults.empty())
      << "the spec allows it";
  return audit.faults.empty() ? ModuleFault{} : audit.faults.front();
}

TEST(CompileAuditTest, APlantedSpillIsReportedWithItsFigures) {
  const ModuleFault fault = only_fault(merge(), kSpilling);
  EXPECT_EQ(fault.spec.kernel, "split_kv_merge");
  EXPECT_EQ(fault.architecture, "sm_80");
  EXPECT_EQ(fault.refused, "");
  EXPECT_EQ(fault.allowed, 0);
  EXPECT_EQ(fault.resources.registers, 32);
  EXPECT_GT(fault.resources.stack_bytes, 0);
  EXPECT_GT(fault.resources.spill_stores, 0);
  EXPECT_GT(fault.resources.spill_loads, 0);
}

TEST(CompileAuditTest, APlantedLocalArrayIsReportedThoughNothingSpills) {
  const ModuleFault fault = only_fault(merge(), kFramed);
  EXPECT_GE(fault.resources.stack_bytes, 400);
  EXPECT_EQ(fault.resources.spill_stores, 0);
}

TEST(CompileAuditTest, AModuleThatDoesNotCompileIsAFaultOfItsOwn) {
  KernelSpec kernel = merge();
  kernel.modules = [](const Case&) {
    return std::vector<VariantSpec>{{"split_kv_merge", {{"D", 64}}, {{"v", Dtype::f32}}}};
  };
  const CompileAudit audit = compile_audit({&kernel, 1}, {.architectures = {"sm_80"}});
  ASSERT_EQ(audit.faults.size(), 1u);
  EXPECT_EQ(audit.faults[0].spec.canonical(), "split_kv_merge<D=64>(v=f32)");
  EXPECT_NE(audit.faults[0].refused.find("error"), std::string::npos) << audit.faults[0].refused;
}

TEST(CompileAuditTest, TheSampleAddsModulesThatSmokeLacks) {
  const KernelSpec kernel = merge();
  const CompileAudit audit =
      compile_audit({&kernel, 1}, {.architectures = {"sm_80"}, .sample = 2, .seed = 1});
  EXPECT_EQ(audit.modules, 3u);
  ASSERT_EQ(audit.worst.size(), 1u);
  EXPECT_EQ(audit.worst[0].modules, 3u);
}

TEST(CompileAuditTest, AKernelWithoutVariantsCannotBeSampledButItsSmokeCasesCompile) {
  KernelSpec kernel = merge();
  kernel.variants = nullptr;
  try {
    compile_audit({&kernel, 1}, {.architectures = {"sm_80"}, .sample = 1});
    FAIL() << "sampled what nobody enumerated";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'split_kv_merge' has no variants"), std::string::npos)
        << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
  EXPECT_EQ(compile_audit({&kernel, 1}, {.architectures = {"sm_80"}}).modules, 1u);
}

TEST(CompileAuditTest, ArchitecturesThatNvrtcDoesNotKnowAreUsageErrorsThatNameThem) {
  const KernelSpec kernel = merge();
  for (const std::string architecture : {"sm_999", "sm_80a", "sm_90z", "gfx90a", ""}) try {
      compile_audit({&kernel, 1}, {.architectures = {architecture}});
      FAIL() << "took " << architecture;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(architecture), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace parity
