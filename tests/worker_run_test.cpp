// One run as a worker makes it, of a kernel that writes where it may not.
#include "harness/worker_run.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fake_device.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/toy_kernel.hpp"

namespace parity {
namespace {

constexpr std::size_t kWorkspaceBytes = 96;

/// Fills its output and so many bytes of a workspace that holds kWorkspaceBytes.
KernelSpec scratching(std::size_t bytes) {
  KernelSpec spec = toy_spec();
  spec.launch = [bytes](Runtime& runtime, const Case&, const DeviceTensors& tensors) {
    const WorkspaceLease lease =
        runtime.workspaces().lease({"toy_v1", "scratch"}, kWorkspaceBytes, runtime.trace());
    std::memset(lease.memory.data, 1, bytes);
    for (const char* output : {"y", "lse"})
      std::memset(tensors.at(output).data, 1, tensors.at(output).type.bytes());
    return std::string("toy");
  };
  return spec;
}

TEST(WorkerRunTest, WritesBehindAWorkspaceAreABrokenGuardOfThatRun) {
  const TemporaryFolder folder;
  Runtime runtime(std::make_unique<FakeBackend>(), std::make_unique<FakeToolchain>(),
                  folder.path());
  const std::filesystem::path blobs = folder.path();
  WorkerRun worker(runtime, blobs);
  const auto broken = [&](std::size_t bytes) {
    const std::vector<KernelSpec> kernels = {scratching(bytes)};
    const Case description = parse_case(kernels, kernels.front().smoke.front());
    const Outcome outcome = worker.run(
        {description, toy_inputs(description), toy_outputs(description)}, Poison::ones, [] {});
    EXPECT_EQ(outcome.status, Status::ok) << outcome.detail;
    EXPECT_EQ(outcome.unwritten, 0);
    return outcome.broken_guards;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(broken(kWorkspaceBytes), Names{});
  EXPECT_EQ(broken(kWorkspaceBytes + 1), Names{"workspace toy_v1/scratch"});
  EXPECT_EQ(broken(kWorkspaceBytes), Names{});
}

}  // namespace
}  // namespace parity
