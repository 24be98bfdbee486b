// The graph cache: what a graph is replayed for, what of it is seen, and what a runtime records.
#include "device/graph_cache.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "datasets/errors.hpp"
#include "device/runtime.hpp"
#include "fake_device.hpp"
#include "host_kernel.hpp"
#include "temporary_folder.hpp"

namespace parity {
namespace {

const VariantSpec kToy{"toy", {{"D", 64}}, {{"x", Dtype::f32}}};

/// Each block: f = f · 2, or f + 1 where n is 1.
constexpr const char* kToyText =
    "PARITY_KERNEL(probe, TestParams, 32) {\n"
    "  float& f = p.f[block_x()];\n"
    "  f = p.n == 1 ? f + 1.0f : f * 2.0f;\n"
    "}\n";

class GraphCacheTest : public testing::Test {
 protected:
  RecordedLaunches recorded(std::vector<TestParams> params, std::uint32_t blocks = 1) const {
    RecordedLaunches out;
    for (const TestParams& each : params) {
      const auto bytes = std::as_bytes(std::span(&each, 1));
      out.add(kToy,
              {.module = module_,
               .shape = {.grid = {blocks}, .block = {1}},
               .params = {bytes.begin(), bytes.end()}},
              "n=" + std::to_string(each.n));
    }
    return out;
  }
  CellTouch replay(const RecordedLaunches& launches, const std::string& run = "run") {
    trace_.begin(run);
    graphs_.replay(launches, trace_);
    const std::vector<CellTouch> touches = trace_.take();
    EXPECT_EQ(touches.size(), 1u);
    return touches.empty() ? CellTouch{} : touches.front();
  }

  HostKernel kernel_{kToyText};
  std::shared_ptr<const Module> module_{std::shared_ptr<void>(), &kernel_.module()};
  GraphCache graphs_{*kernel_.backend, Faults{}};
  Trace trace_;
};

TEST_F(GraphCacheTest, LaunchesRunInTheirOrderAtEveryReplay) {
  std::array<float, 2> f = {3.0f, 5.0f};
  const RecordedLaunches launches = recorded({{f.data(), nullptr, 0}, {f.data(), nullptr, 1}}, 2);
  EXPECT_EQ(f[0], 3.0f) << "nothing runs before it is replayed";
  EXPECT_TRUE(replay(launches, "first").wrote);
  EXPECT_EQ(f, (std::array{7.0f, 11.0f}));
  const CellTouch again = replay(launches, "second");
  EXPECT_EQ(f, (std::array{15.0f, 23.0f}));
  EXPECT_EQ(again, (CellTouch{"graph_cache",
                              "toy<D=64>(x=f32) grid=2x1x1 block=1 n=0 + toy<D=64>(x=f32) "
                              "grid=2x1x1 block=1 n=1",
                              false, "grid=2x1x1 block=1 n=0 + grid=2x1x1 block=1 n=1",
                              "grid=2x1x1 block=1 n=0 + grid=2x1x1 block=1 n=1", "first"}));
}

TEST_F(GraphCacheTest, AGraphIsReplayedForNothingElse) {
  std::array<float, 4> f = {};
  const RecordedLaunches one = recorded({{f.data(), nullptr, 1}});
  replay(one);
  EXPECT_TRUE(replay(recorded({{f.data(), nullptr, 1}}, 2)).wrote) << "grid";
  EXPECT_TRUE(replay(recorded({{f.data(), nullptr, 0}})).wrote) << "a scalar";
  EXPECT_TRUE(replay(recorded({{f.data() + 1, nullptr, 1}})).wrote) << "a buffer";
  EXPECT_TRUE(replay(recorded({{f.data(), nullptr, 1}, {f.data(), nullptr, 1}})).wrote) << "twice";
  RecordedLaunches other = one;
  other.variants[0].dtypes[0].second = Dtype::f16;
  EXPECT_TRUE(replay(other).wrote) << "variant";
  other = one;
  other.launches[0].shape.shared_bytes = 16;
  EXPECT_TRUE(replay(other).wrote) << "shared memory";
  other = one;
  other.launches[0].shape.block = {2};
  EXPECT_TRUE(replay(other).wrote) << "block";
  const HostKernel reloaded(kToyText);
  other = one;
  other.launches[0].module = {std::shared_ptr<void>(), &const_cast<HostKernel&>(reloaded).module()};
  EXPECT_TRUE(replay(other).wrote) << "module";
  EXPECT_FALSE(replay(one).wrote);
}

/// No address stands in what people and reports see.
TEST_F(GraphCacheTest, OtherBuffersHaveOtherGraphsAndTheSameText) {
  std::array<float, 2> f = {};
  const CellTouch first = replay(recorded({{f.data(), nullptr, 1}}));
  const CellTouch second = replay(recorded({{f.data() + 1, nullptr, 1}}));
  EXPECT_TRUE(second.wrote);
  EXPECT_EQ(first, second);
  EXPECT_EQ(f, (std::array{1.0f, 1.0f}));
  const std::vector<CellState> cells = graphs_.snapshot();
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0], cells[1]);
  EXPECT_EQ(cells[0].cell, "toy<D=64>(x=f32) grid=1x1x1 block=1 n=1");
}

TEST_F(GraphCacheTest, NoLaunchesTouchNothing) {
  trace_.begin("run");
  graphs_.replay({}, trace_);
  EXPECT_TRUE(trace_.take().empty());
  EXPECT_TRUE(graphs_.snapshot().empty());
}

TEST_F(GraphCacheTest, RestoreForgetsAndSetSaysWhyItCannot) {
  float f = 0.0f;
  const RecordedLaunches launches = recorded({{&f, nullptr, 1}});
  replay(launches);
  const std::vector<CellState> cells = graphs_.snapshot();
  graphs_.restore();
  EXPECT_TRUE(graphs_.snapshot().empty());
  EXPECT_FALSE(graphs_.settable());
  EXPECT_TRUE(says(message_of<UsageError>([&] { graphs_.set(cells); }), {"graph_cache", "set"}));
  EXPECT_TRUE(replay(launches).wrote);
}

TEST_F(GraphCacheTest, ThePlantReplaysWhatWasCapturedFirstAndTheTraceSaysSo) {
  GraphCache weak(*kernel_.backend, Faults{.graph_without_shape = true});
  std::array<float, 2> f = {};
  trace_.begin("polluter");
  weak.replay(recorded({{f.data(), nullptr, 1}}), trace_);
  trace_.begin("victim");
  weak.replay(recorded({{f.data(), nullptr, 1}}, 2), trace_);
  EXPECT_EQ(f, (std::array{2.0f, 0.0f}));
  EXPECT_EQ(trace_.take(), (std::vector<CellTouch>{{"graph_cache", "toy<D=64>(x=f32)", false,
                                                    "grid=1x1x1 block=1 n=1",
                                                    "grid=2x1x1 block=1 n=1", "polluter"}}));
  trace_.begin("moved");
  weak.replay(recorded({{f.data() + 1, nullptr, 1}}), trace_);
  EXPECT_EQ(trace_.take().at(0).used_for, "grid=1x1x1 block=1 n=1 on other buffers");
}

/// Counts; a graph of more than `most` launches is refused.
class CountingBackend final : public FakeBackend {
 public:
  void launch(const Module&, const LaunchShape&, const void*, std::size_t) override { ++launched; }
  std::unique_ptr<Graph> capture(std::vector<PreparedLaunch> launches) override {
    if (launches.size() > most) throw DeviceError("refused");
    ++captured;
    return FakeBackend::capture(std::move(launches));
  }

  std::atomic<int> launched = 0;
  std::atomic<int> captured = 0;
  std::size_t most = 100;
};

RecordedLaunches empty_launches(std::size_t count) {
  RecordedLaunches out;
  for (std::size_t i = 0; i < count; ++i)
    out.add(kToy, {std::make_shared<Module>(), {.grid = {1}, .block = {1}}, {}}, "");
  return out;
}

TEST(GraphCaptureTest, IsDoneOnceHoweverManyThreadsAsk) {
  CountingBackend backend;
  GraphCache graphs(backend, Faults{});
  const RecordedLaunches launches = empty_launches(3);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        Trace trace;
        graphs.replay(launches, trace);
      });
  }
  EXPECT_EQ(backend.captured, 1);
  EXPECT_EQ(backend.launched, 8 * 3);
}

TEST(GraphCaptureTest, ThatFailsIsNotRemembered) {
  CountingBackend backend;
  backend.most = 1;
  GraphCache graphs(backend, Faults{});
  Trace trace;
  const RecordedLaunches launches = empty_launches(2);
  EXPECT_THROW(graphs.replay(launches, trace), DeviceError);
  EXPECT_TRUE(graphs.snapshot().empty());
  backend.most = 2;
  graphs.replay(launches, trace);
  EXPECT_EQ(backend.launched, 2);
}

class RecordingTest : public testing::Test {
 protected:
  void launch(std::uint32_t blocks = 1) {
    runtime_.launch({.variant = variant_,
                     .shape = {.grid = {blocks}, .block = {32}},
                     .params = {},
                     .input = tensor_,
                     .output = tensor_});
  }

  TemporaryFolder folder_;
  CountingBackend* backend_ = new CountingBackend;  // the runtime's
  Runtime runtime_{std::unique_ptr<Backend>(backend_), std::make_unique<FakeToolchain>(),
                   folder_.path()};
  const VariantSpec variant_{"paged_decode_v1", {{"D", 64}}, {{"q", Dtype::f32}}};
  const DeviceTensor tensor_;
  const WorkspaceKey key_{"toy", "partials"};
};

TEST_F(RecordingTest, StartsNothingUntilItIsReplayedAndModulesAreMadeMeanwhile) {
  runtime_.trace().begin("run");
  runtime_.replay_as_graph([&] {
    EXPECT_TRUE(runtime_.is_recording());
    launch();
    launch(0);
    launch(2);
    EXPECT_EQ(runtime_.modules().snapshot().size(), 1u);
    EXPECT_EQ(backend_->launched, 0);
    std::jthread([&] { launch(); }).join();
    EXPECT_EQ(backend_->launched, 1) << "another thread's launch is its own";
  });
  EXPECT_FALSE(runtime_.is_recording());
  EXPECT_EQ(backend_->launched, 1 + 2) << "a grid of no blocks launches nothing";
  EXPECT_EQ(backend_->captured, 1);
  launch();
  EXPECT_EQ(backend_->launched, 4);
}

TEST_F(RecordingTest, AFailureEndsItAndStartsNothing) {
  EXPECT_THROW(runtime_.replay_as_graph([&] {
    launch();
    throw UsageError("wrong argument");
  }),
               UsageError);
  EXPECT_FALSE(runtime_.is_recording());
  EXPECT_EQ(backend_->launched, 0);
  EXPECT_TRUE(runtime_.graphs().snapshot().empty());
}

TEST_F(RecordingTest, WithinAnotherIsRefused) {
  runtime_.replay_as_graph([&] {
    EXPECT_TRUE(says(message_of<UsageError>([&] { runtime_.replay_as_graph([] {}); }),
                     {"replay_as_graph once"}));
    EXPECT_TRUE(runtime_.is_recording());
  });
}

/// Else another thread's launch, or its growth of the block, could come before the replay.
TEST_F(RecordingTest, AColdWorkspaceIsHeldUntilTheGraphHasBeenStarted) {
  std::future<void> other;
  runtime_.replay_as_graph([&] {
    runtime_.lease_workspace(key_, 64);
    launch();
    other = std::async(std::launch::async, [&] {
      runtime_.lease_workspace(key_, 1024);
      EXPECT_EQ(backend_->launched, 1);
    });
    EXPECT_EQ(other.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  });
  other.get();
}

TEST_F(RecordingTest, LaunchesThatShareAWorkspaceLieInTheSameMemoryWhichCannotGrow) {
  runtime_.replay_as_graph([&] {
    const DeviceTensor first = runtime_.lease_workspace(key_, 64).memory;
    const DeviceTensor second = runtime_.lease_workspace(key_, 16).memory;
    EXPECT_EQ(second.data, first.data);
    EXPECT_EQ(second.type, (TensorType{Dtype::u8, {16}}));
    EXPECT_TRUE(says(message_of<UsageError>([&] { runtime_.lease_workspace(key_, 65); }),
                     {"workspace toy/partials of 64 bytes", "cannot grow to 65"}));
  });
  EXPECT_EQ(runtime_.lease_workspace(key_, 65).memory.type.bytes(), 65u);
}

/// Each needs what the other has: no deadlock.
TEST_F(RecordingTest, TwoThreadsThatNeedTheSameWorkspacesInOtherOrdersBothEnd) {
  const WorkspaceKey other{"toy", "scores"};
  std::vector<std::jthread> threads;
  for (const bool swapped : {false, true})
    threads.emplace_back([&, swapped] {
      for (int i = 0; i < 200; ++i)
        runtime_.replay_as_graph([&] {
          runtime_.lease_workspace(swapped ? other : key_, 16);
          runtime_.lease_workspace(swapped ? key_ : other, 16);
          launch();
        });
    });
  threads.clear();
  EXPECT_EQ(backend_->launched, 400);
}

}  // namespace
}  // namespace parity
