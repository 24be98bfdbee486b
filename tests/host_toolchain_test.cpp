// The system compiler as a toolchain: identity, failures, and code that does not depend on chance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <optional>

#include "device/host_cpu.hpp"
#include "tests/host_kernel.hpp"

namespace parity {
namespace {

/// An environment variable set (or removed) while this lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    put(value);
  }
  ~ScopedVariable() { put(before_ ? before_->c_str() : nullptr); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void put(const char* value) {
    if (value == nullptr)
      unsetenv(name_);
    else
      setenv(name_, value, 1);
  }
  const char* name_;
  std::optional<std::string> before_;
};

bool contains(const std::vector<std::string>& options, const std::string& option) {
  return std::find(options.begin(), options.end(), option) != options.end();
}

constexpr const char* kDouble = "PARITY_KERNEL(probe, TestParams, 32) { p.f[thread_x()] *= 2; }\n";

TEST(HostToolchainTest, CompileErrorCarriesLogAndPath) {
  TestFolder folder;
  const std::string text =
      simt_text("PARITY_KERNEL(probe, TestParams, 32) { p.f[0] = no_such_name; }\n");
  const std::string source = folder.write("broken.cu", text).string();
  const auto toolchain = make_host_toolchain();
  EXPECT_TRUE(says(message_of<CompileError>([&] { toolchain->compile(text, source); }),
                   {source, "no_such_name", "error"}));
}

TEST(HostToolchainTest, EqualTextsCompiledAtTheSameTimeGiveEqualImages) {
  TestFolder folder;
  const std::string text = simt_text(kDouble);
  const std::string source = folder.write("double.cu", text).string();
  const auto toolchain = make_host_toolchain();
  std::vector<std::future<std::vector<std::byte>>> images;
  for (int i = 0; i < 4; ++i)
    images.push_back(
        std::async(std::launch::async, [&] { return toolchain->compile(text, source); }));
  const std::vector<std::byte> first = images[0].get();
  EXPECT_GT(first.size(), 1000u);
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(images[i].get() == first) << i;
}

TEST(HostToolchainTest, PathSpellingIsNotInTheIdentity) {  // or each spelling would compile anew
  const ScopedVariable no_choice("CXX", nullptr);
  const ToolchainIdentity plain = make_host_toolchain()->identity();
  TestFolder folder;
  const std::string real = plain.version.substr(0, plain.version.find(':'));
  std::filesystem::create_symlink(real, folder.path() / "my-compiler");
  {
    const ScopedVariable by_link("CXX", (folder.path() / "my-compiler").c_str());
    EXPECT_EQ(make_host_toolchain()->identity(), plain);
  }
  std::filesystem::create_symlink(real, folder.path() / "c++");
  const std::string path = folder.path().string() + "/.:" + std::getenv("PATH");
  const ScopedVariable by_path("PATH", path.c_str());
  EXPECT_EQ(make_host_toolchain()->identity(), plain);
}

TEST(HostToolchainTest, ArgumentsInCxxAreInTheIdentityAndInForce) {
  TestFolder folder;
  const std::string text = simt_text(
      "#if FACTOR != 3\n#error FACTOR is missing\n#endif\nPARITY_KERNEL(probe, TestParams, 32) "
      "{}\n");
  const std::string source = folder.write("factor.cu", text).string();
  EXPECT_THROW(make_host_toolchain()->compile(text, source), CompileError);
  const ScopedVariable choice("CXX", "g++ -DFACTOR=3");
  const auto toolchain = make_host_toolchain();
  EXPECT_TRUE(contains(toolchain->identity().options, "-DFACTOR=3"));
  EXPECT_NO_THROW(toolchain->compile(text, source));
}

TEST(HostToolchainTest, VariablesThatCompilersReadDoNotReachTheCompiler) {
  TestFolder folder;
  folder.write("chance.h", "#define CHANCE 1\n");
  const ScopedVariable include_path("CPATH", folder.path().c_str());
  const std::string text = simt_text(
      "#if __has_include(<chance.h>)\n#error reached\n#endif\nPARITY_KERNEL(probe, TestParams, 32) "
      "{}\n");
  EXPECT_NO_THROW(make_host_toolchain()->compile(text, folder.write("env.cu", text).string()));
}

TEST(HostToolchainTest, WithoutACompilerTheErrorSaysWhatToInstall) {
  TestFolder empty;
  {
    const ScopedVariable choice("CXX", "no-such-compiler");
    EXPECT_TRUE(
        says(message_of<DeviceError>([] { make_host_toolchain(); }), {"no-such-compiler", "CXX"}));
  }
  const ScopedVariable no_choice("CXX", nullptr);
  const ScopedVariable path("PATH", empty.path().c_str());
  EXPECT_TRUE(says(message_of<DeviceError>([] { make_host_toolchain(); }), {"install g++"}));
}

TEST(HostToolchainTest, ProductsAreNotContractedAndFmaIsExact) {
  HostKernel kernel(
      "PARITY_KERNEL(probe, TestParams, 32) {\n"
      "  if (thread_x() != 0) return;\n"
      "  p.f[3] = p.f[0] * p.f[1] + p.f[2];\n"
      "  p.f[4] = __builtin_fmaf(p.f[0], p.f[1], p.f[2]);\n"
      "}\n");
  const float odd = 1.0f + 0x1p-12f;  // its square needs 25 bits
  std::vector<float> data = {odd, odd, -1.0f - 0x1p-11f, 9, 9};
  kernel.run({.f = data.data()}, 32);
  EXPECT_EQ(data[3], 0.0f);
  EXPECT_EQ(data[4], 0x1p-24f);
}

TEST(HostToolchainTest, IdentityHasTheFeaturesAndNoFastMath) {
  const auto toolchain = make_host_toolchain();
  EXPECT_EQ(toolchain->identity().name, "host");
  EXPECT_EQ(toolchain->image_suffix(), ".so");
  EXPECT_EQ(toolchain->identity().architecture, read_host_cpu().architecture);
  EXPECT_TRUE(contains(toolchain->identity().options, "-ffp-contract=off"));
  EXPECT_FALSE(contains(toolchain->identity().options, "-ffast-math"));
}

TEST(HostToolchainTest, KernelTextAlsoCompilesForAGpu) {
  std::unique_ptr<Toolchain> nvrtc;
  try {
    nvrtc = make_nvrtc_toolchain("sm_90a");
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  TestFolder folder;
  const std::string text = simt_text(R"(
    PARITY_KERNEL(probe, TestParams, 128) {
      PARITY_SHARED(float, tile, 128);
      PARITY_DYNAMIC_SHARED(float, dynamic);
      float v[2] = {p.f[thread_x()], 1.0f};
      segment_sum<8>(0xffffffffu, v);
      segment_max<32, 2>(0xffffffffu, v);
      tile[thread_x()] = v[0];
      dynamic[thread_x()] = v[1];
      block_barrier();
      warp_barrier(0xffffffffu);
      const float other = shuffle(0xffffffffu, tile[0], lane_id() ^ 1);
      const u64 wide = shuffle<u64>(0xffffffffu, p.n, 3);
      const u32 votes = ballot(0xffffffffu, other > dynamic[1]);
      if (any(0xffffffffu, wide != 0))
        p.u[2 + (block_y() * grid_x() + block_x()) * block_threads() + warp_id()] = votes;
      atomic_add_acq_rel(p.u, 1u);
      atomic_add_acq_rel(reinterpret_cast<i32*>(p.u + 1), -1);
    })");
  EXPECT_GT(nvrtc->compile(text, folder.write("probe.cu", text).string()).size(), 1000u);
}

TEST(HostCpuTest, FeaturesComeFromTheFlagsLine) {
  const HostCpu cpu = parse_host_cpu(
      "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t\t: fpu avx avx2 f16c avx512_vnni\n",
      "x86_64");
  EXPECT_EQ(cpu.model, "Some CPU @ 2 GHz");
  EXPECT_EQ(cpu.architecture, "x86_64+avx2+f16c");
  EXPECT_EQ(cpu.compiler_options, (std::vector<std::string>{"-mavx2", "-mf16c"}));
}

TEST(HostCpuTest, OtherMachinesHaveNoX86Options) {
  const HostCpu cpu = parse_host_cpu("flags : avx2 fma\n", "aarch64");
  EXPECT_EQ(cpu.model, "aarch64 CPU");
  EXPECT_EQ(cpu.architecture, "aarch64");
  EXPECT_TRUE(cpu.compiler_options.empty());
}

}  // namespace
}  // namespace parity
