// The module cache: sound keys, the planted weak key, single flight, and its use as a carrier.
#include "device/module_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <optional>
#include <thread>

#include "datasets/errors.hpp"
#include "device/kernel_text.hpp"
#include "device/sanitizers.hpp"
#include "fake_device.hpp"
#include "temporary_folder.hpp"

namespace parity {
namespace {

VariantSpec paged_decode(Dtype k, std::int64_t head_dim = 64) {
  return {"paged_decode_v1",
          {{"D", head_dim}, {"GROUP", 4}},
          {{"q", Dtype::f32}, {"k", k}, {"v", Dtype::f32}}};
}

const std::string& image_of(const Module& module) {
  return dynamic_cast<const FakeModule&>(module).image;
}

bool built_from(const Module& module, const VariantSpec& spec) {
  return image_of(module).starts_with("image of " + render(spec));
}

class ModuleCacheTest : public testing::Test {
 protected:
  ModuleCache& cache(Faults faults = {}) {
    return cache_.emplace(backend_, toolchain_, disk_, faults);
  }

  TemporaryFolder folder_;
  FakeBackend backend_;
  FakeToolchain toolchain_;
  DiskCache disk_{folder_.path()};
  Trace trace_;
  std::optional<ModuleCache> cache_;
};

constexpr Faults kWeak{.weak_module_key = true};

// One dtype, then another, at one geometry: each its own module.
TEST_F(ModuleCacheTest, DtypesGetModulesOfTheirOwn) {
  ModuleCache& modules = cache();
  const Module& f32 = *modules.share(paged_decode(Dtype::f32), trace_);
  const Module& f16 = *modules.share(paged_decode(Dtype::f16), trace_);
  EXPECT_NE(&f32, &f16);
  EXPECT_TRUE(built_from(f32, paged_decode(Dtype::f32)));
  EXPECT_TRUE(built_from(f16, paged_decode(Dtype::f16)));
  EXPECT_EQ(modules.share(paged_decode(Dtype::f32), trace_).get(), &f32);
  EXPECT_EQ(toolchain_.compiles, 2);
}

TEST_F(ModuleCacheTest, PlantedWeakKeyHandsOutTheFirstDtypesModule) {
  ModuleCache& modules = cache(kWeak);
  const Module& first = *modules.share(paged_decode(Dtype::f32), trace_);
  EXPECT_EQ(modules.share(paged_decode(Dtype::f16), trace_).get(), &first);
  EXPECT_TRUE(built_from(first, paged_decode(Dtype::f32)));
  EXPECT_NE(modules.share(paged_decode(Dtype::f32, 128), trace_).get(), &first)
      << "constants stay in the key";
}

TEST_F(ModuleCacheTest, PlantNeverReachesTheDisk) {
  cache(kWeak).share(paged_decode(Dtype::f32), trace_);
  cache_->share(paged_decode(Dtype::f16), trace_);
  EXPECT_TRUE(
      built_from(*cache().share(paged_decode(Dtype::f16), trace_), paged_decode(Dtype::f16)));
}

TEST_F(ModuleCacheTest, TouchTellsWhoBuiltTheCellForWhat) {
  ModuleCache& modules = cache(kWeak);
  trace_.begin("first");
  modules.share(paged_decode(Dtype::f32), trace_);
  EXPECT_EQ(trace_.take(),
            (std::vector<CellTouch>{{"module_cache", "paged_decode_v1<D=64,GROUP=4>", true,
                                     "q=f32,k=f32,v=f32", "q=f32,k=f32,v=f32", "first"}}));
  trace_.begin("second");
  modules.share(paged_decode(Dtype::f16), trace_);
  EXPECT_EQ(trace_.take(),
            (std::vector<CellTouch>{{"module_cache", "paged_decode_v1<D=64,GROUP=4>", false,
                                     "q=f32,k=f32,v=f32", "q=f32,k=f16,v=f32", "first"}}));
}

TEST_F(ModuleCacheTest, SoundCellIsNamedByItsWholeSpec) {
  trace_.begin("run");
  cache().share(paged_decode(Dtype::f16), trace_);
  const auto touches = trace_.take();
  ASSERT_EQ(touches.size(), 1u);
  EXPECT_EQ(touches[0].cell, "paged_decode_v1<D=64,GROUP=4>(q=f32,k=f16,v=f32)");
  EXPECT_EQ(touches[0].built_for, touches[0].used_for);
}

TEST(ModuleKeyTest, SoundKeyHoldsSpecTextAndToolchain) {
  const VariantSpec spec = paged_decode(Dtype::f16);
  const ToolchainIdentity toolchain{"fake", "1", "a", {"-O2"}};
  EXPECT_EQ(make_module_key(spec, digest("text"), toolchain, {}),
            (ModuleKey{spec, digest("text"), toolchain}));
  EXPECT_EQ(make_module_key(spec, digest("text"), toolchain, kWeak),
            (ModuleKey{{spec.kernel, spec.constants, {}}, {}, {}}));
}

// A flag published before its value once killed a suite with several host threads.
TEST_F(ModuleCacheTest, EightThreadsOnAColdKeyCompileOnce) {
  toolchain_.delay = std::chrono::milliseconds(30);
  ModuleCache& modules = cache();
  std::barrier start(8);
  std::vector<const Module*> got(8);
  std::vector<Trace> traces(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        got[i] = modules.share(paged_decode(Dtype::f16), traces[i]).get();
      });
  }
  EXPECT_EQ(toolchain_.compiles, 1);
  EXPECT_EQ(backend_.loaded, 1);
  int writers = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(got[i], got[0]);
    writers += traces[i].take().at(0).wrote;
  }
  EXPECT_EQ(writers, 1);
}

/// What `threads` threads that start together get on a cold key: how many go without a module.
int without_a_module(ModuleCache& modules, std::size_t threads) {
  std::barrier start(static_cast<std::ptrdiff_t>(threads));
  std::atomic<int> without = 0;
  {
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < threads; ++i)
      running.emplace_back([&] {
        Trace trace;
        start.arrive_and_wait();
        try {
          modules.share(paged_decode(Dtype::f16), trace);
        } catch (const DeviceError&) {
          without += trace.take().at(0).wrote ? 0 : 1;
        }
      });
  }
  return without;
}

// E5, planted. What the fault does is a data race, so under ThreadSanitizer it is a report.
#if !PARITY_TSAN
TEST_F(ModuleCacheTest, PlantedUnlockedFirstUseGoesOnWithoutAModule) {
  EXPECT_EQ(without_a_module(cache({.unlocked_first_use = true}), 4), 3);
  EXPECT_EQ(without_a_module(*cache_, 4), 0) << "warm, it is well";
  EXPECT_EQ(without_a_module(cache({.unlocked_first_use = true}), 1), 0) << "alone, it is well";
}
#else
/// In a process of its own, which ends with the sanitizer's status.
TEST(ModuleCacheDeathTest, ThreadSanitizerSeesTheUnlockedFirstUseAndNothingWithoutIt) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto first_use = [](Faults faults) {
    const TemporaryFolder folder;
    FakeBackend backend;
    const FakeToolchain toolchain;
    DiskCache disk(folder.path());
    ModuleCache modules(backend, toolchain, disk, faults);
    without_a_module(modules, 4);
    without_a_module(modules, 4);
  };
  const auto complained = [](int status) { return !testing::ExitedWithCode(0)(status); };
  EXPECT_EXIT((first_use({.unlocked_first_use = true}), std::exit(0)), complained, "data race");
  EXPECT_EXIT((first_use({}), std::exit(0)), testing::ExitedWithCode(0), "");
}
#endif

// What is remembered of a variant is its own, also where a weak key makes two share a cell.
TEST_F(ModuleCacheTest, HitsInAnyOrderTellWhatEachRunNeeded) {
  ModuleCache& modules = cache(kWeak);
  trace_.begin("first");
  for (const Dtype k : {Dtype::f32, Dtype::f16, Dtype::f32, Dtype::bf16, Dtype::f16})
    modules.share(paged_decode(k), trace_);
  std::vector<std::string> used;
  for (const CellTouch& touch : trace_.take()) {
    EXPECT_EQ(touch.cell, "paged_decode_v1<D=64,GROUP=4>");
    EXPECT_EQ(touch.built_for, "q=f32,k=f32,v=f32");
    EXPECT_EQ(touch.wrote, used.empty());
    used.push_back(touch.used_for);
  }
  EXPECT_EQ(used,
            (std::vector<std::string>{"q=f32,k=f32,v=f32", "q=f32,k=f16,v=f32", "q=f32,k=f32,v=f32",
                                      "q=f32,k=bf16,v=f32", "q=f32,k=f16,v=f32"}));
}

TEST_F(ModuleCacheTest, ThreadsThatHitAndMissAtOnceEachGetTheirVariantsModule) {
  ModuleCache& modules = cache();
  const std::vector<VariantSpec> variants = {paged_decode(Dtype::f32), paged_decode(Dtype::f16),
                                             paged_decode(Dtype::f32, 128)};
  std::barrier start(4);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        Trace trace;
        start.arrive_and_wait();
        for (std::size_t i = 0; i < 100; ++i) {
          const VariantSpec& variant = variants[(i + thread) % variants.size()];
          wrong += !built_from(*modules.share(variant, trace), variant);
        }
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(toolchain_.compiles, 3);
}

TEST_F(ModuleCacheTest, AVariantThatWasRestoredIsRenderedAndLoadedAgain) {
  ModuleCache& modules = cache();
  modules.share(paged_decode(Dtype::f16), trace_);
  modules.restore();
  trace_.begin("again");
  EXPECT_TRUE(
      built_from(*modules.share(paged_decode(Dtype::f16), trace_), paged_decode(Dtype::f16)));
  EXPECT_TRUE(trace_.take().at(0).wrote);
  EXPECT_EQ(toolchain_.compiles, 1) << "the disk has it";
}

TEST_F(ModuleCacheTest, FailureIsNotRemembered) {
  ModuleCache& modules = cache();
  toolchain_.refuse = true;
  EXPECT_THROW(modules.share(paged_decode(Dtype::f16), trace_), CompileError);
  EXPECT_TRUE(trace_.take().empty());
  EXPECT_TRUE(modules.snapshot().empty());
  toolchain_.refuse = false;
  EXPECT_TRUE(
      built_from(*modules.share(paged_decode(Dtype::f16), trace_), paged_decode(Dtype::f16)));
}

TEST_F(ModuleCacheTest, PrepareTouchesNoCell) {
  ModuleCache& modules = cache(kWeak);
  modules.prepare(paged_decode(Dtype::f32));
  EXPECT_TRUE(modules.snapshot().empty());
  EXPECT_EQ(backend_.loaded, 0);
  modules.share(paged_decode(Dtype::f32), trace_);
  EXPECT_EQ(toolchain_.compiles, 1);
}

TEST_F(ModuleCacheTest, RestoreUnloadsEverything) {
  ModuleCache& modules = cache(kWeak);
  modules.share(paged_decode(Dtype::f32), trace_);
  modules.restore();
  EXPECT_EQ(backend_.loaded, 0);
  EXPECT_TRUE(modules.snapshot().empty());
  EXPECT_TRUE(
      built_from(*modules.share(paged_decode(Dtype::f16), trace_), paged_decode(Dtype::f16)));
}

TEST_F(ModuleCacheTest, SetMakesExactlyTheCellsOfASnapshot) {
  ModuleCache& polluted = cache(kWeak);
  polluted.share(paged_decode(Dtype::f32), trace_);
  polluted.share(paged_decode(Dtype::f16, 128), trace_);
  const std::vector<CellState> cells = polluted.snapshot();
  EXPECT_EQ(cells,
            (std::vector<CellState>{
                {"paged_decode_v1<D=128,GROUP=4>", paged_decode(Dtype::f16, 128).canonical()},
                {"paged_decode_v1<D=64,GROUP=4>", paged_decode(Dtype::f32).canonical()}}));
  ModuleCache& fresh = cache(kWeak);
  fresh.share(paged_decode(Dtype::f16, 256), trace_);
  fresh.set(cells);
  EXPECT_EQ(fresh.snapshot(), cells);
  EXPECT_TRUE(built_from(*fresh.share(paged_decode(Dtype::f16), trace_), paged_decode(Dtype::f32)));
}

TEST_F(ModuleCacheTest, SetRefusesWhatItCannotMakeAndChangesNothing) {
  ModuleCache& modules = cache();
  modules.share(paged_decode(Dtype::f32), trace_);
  const std::vector<CellState> before = modules.snapshot();
  const std::string f16 = paged_decode(Dtype::f16).canonical();
  EXPECT_THROW(modules.set({{"paged_decode_v1<D=64,GROUP=4>", f16}}), UsageError);
  EXPECT_THROW(modules.set({{f16, "nonsense<"}}), UsageError);
  EXPECT_THROW(modules.set({{"no_such_kernel", "no_such_kernel"}}), UsageError);
  EXPECT_EQ(modules.snapshot(), before);
}

}  // namespace
}  // namespace parity
