// The runtime: how it is put together and taken apart.
#include "device/runtime.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "datasets/errors.hpp"
#include "device/split_kv_merge.hpp"
#include "fake_device.hpp"
#include "temporary_folder.hpp"

namespace parity {
namespace {

class RuntimeTest : public testing::Test {
 protected:
  std::unique_ptr<Runtime> fake(Faults faults = {}) {
    return std::make_unique<Runtime>(std::make_unique<FakeBackend>(),
                                     std::make_unique<FakeToolchain>(), folder_.path(), faults);
  }

  TemporaryFolder folder_;
};

TEST_F(RuntimeTest, ScoresDoNotDriftWithoutThePlant) {
  const auto runtime = fake();
  for (const Dtype value : {Dtype::f16, Dtype::f32, Dtype::f16, Dtype::bf16})
    EXPECT_EQ(runtime->score_factor(value), 1.0f);
}

TEST_F(RuntimeTest, DriftIsStateOfOneRuntime) {
  const auto polluted = fake({.drift = true});
  polluted->score_factor(Dtype::f16);
  EXPECT_EQ(fake({.drift = true})->score_factor(Dtype::f32), 1.0f);
}

TEST_F(RuntimeTest, EachHostThreadHasATraceOfItsOwn) {
  const auto runtime = fake();
  const VariantSpec spec{"paged_decode_v1", {{"D", 64}, {"GROUP", 4}}, {{"q", Dtype::f32}}};
  runtime->trace().begin("main");
  std::vector<CellTouch> touches;
  std::jthread([&] {
    runtime->trace().begin("other");
    runtime->modules().share(spec, runtime->trace());
    touches = runtime->trace().take();
  }).join();
  ASSERT_EQ(touches.size(), 1u);
  EXPECT_EQ(touches[0].writer, "other");
  EXPECT_EQ(runtime->trace().label(), "main");
  EXPECT_TRUE(runtime->trace().take().empty());
}

TEST_F(RuntimeTest, FaultsReachTheModuleCache) {
  const VariantSpec spec{"paged_decode_v1", {{"D", 64}, {"GROUP", 4}}, {{"q", Dtype::f32}}};
  const auto sound = fake();
  sound->modules().share(spec, sound->trace());
  EXPECT_EQ(sound->carriers().at(0)->snapshot().at(0).cell, spec.canonical());
  const auto weak = fake({.weak_module_key = true});
  weak->modules().share(spec, weak->trace());
  EXPECT_EQ(weak->carriers().at(0)->snapshot().at(0).cell, "paged_decode_v1<D=64,GROUP=4>");
}

/// A backend that must outlive every module that it loaded.
class StrictBackend final : public Backend {
 public:
  explicit StrictBackend(int& alive_at_end) : alive_at_end_(alive_at_end) {}
  ~StrictBackend() override { alive_at_end_ = inner_.loaded; }

  std::string_view name() const override { return inner_.name(); }
  const DeviceIdentity& identity() const override { return inner_.identity(); }
  void* allocate(std::size_t bytes) override { return inner_.allocate(bytes); }
  void release(void* memory) noexcept override { inner_.release(memory); }
  void fill(void* memory, std::byte value, std::size_t bytes) override {
    inner_.fill(memory, value, bytes);
  }
  void copy_in(void* device, std::span<const std::byte> host) override {
    inner_.copy_in(device, host);
  }
  void copy_out(std::span<std::byte> host, const void* device) override {
    inner_.copy_out(host, device);
  }
  std::unique_ptr<Module> load(const std::filesystem::path& file,
                               const std::string& kernel) override {
    return inner_.load(file, kernel);
  }
  void launch(const Module&, const LaunchShape&, const void*, std::size_t) override {}
  void synchronize() override {}
  std::unique_ptr<Stopwatch> stopwatch() override { return inner_.stopwatch(); }

 private:
  FakeBackend inner_;
  int& alive_at_end_;
};

TEST_F(RuntimeTest, ModulesUnloadBeforeTheirBackendGoes) {
  int alive = -1;
  {
    Runtime runtime(std::make_unique<StrictBackend>(alive), std::make_unique<FakeToolchain>(),
                    folder_.path());
    runtime.modules().share({"paged_decode_v1", {}, {}}, runtime.trace());
  }
  EXPECT_EQ(alive, 0);
}

TEST_F(RuntimeTest, HostRuntimeRunsOnTheHost) {
  const auto runtime = make_runtime(BackendKind::host, folder_.path());
  EXPECT_EQ(runtime->backend().name(), "host");
  EXPECT_EQ(runtime->toolchain().identity().name, "host");
}

/// What the disk cache puts behind an image does not keep it from loading, cold or warm.
TEST_F(RuntimeTest, HostRuntimeLoadsWhatTheDiskCacheKeeps) {
  const VariantSpec spec = split_kv_merge_variant(Dtype::f32, Dtype::f16, 64);
  for (const char* when : {"cold", "warm"}) {
    const auto runtime = make_runtime(BackendKind::host, folder_.path());
    EXPECT_NO_THROW(runtime->modules().share(spec, runtime->trace())) << when;
  }
}

TEST_F(RuntimeTest, AutomaticTakesTheHostExactlyWhereNoGpuAnswers) {
  bool gpu = true;
  try {
    make_cuda_backend();
  } catch (const DeviceError&) {
    gpu = false;
  }
  EXPECT_EQ(make_runtime(BackendKind::automatic, folder_.path())->backend().name(),
            gpu ? "cuda" : "host");
}

TEST_F(RuntimeTest, CudaIsNeverReplacedSilently) {
  try {
    EXPECT_EQ(make_runtime(BackendKind::cuda, folder_.path())->backend().name(), "cuda");
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("CUDA"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace parity
