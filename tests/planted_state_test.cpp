// What planted engine state does to scores: after which launch, to which, and with what carrier.
#include "device/planted_state.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "fake_device.hpp"

namespace parity {
namespace {

using enum Dtype;

constexpr float kDrift = 1.0f + 0x1p-22f;

/// A CUDA error that is left by releasing what is no device memory.
class ErrorCarrier final : public Carrier {
 public:
  std::string_view name() const override { return "cuda_last_error"; }
  std::vector<CellState> snapshot() const override { return {{"error", error}}; }
  void restore() override { error = "cudaSuccess"; }
  void set(const std::vector<CellState>&) override {}
  std::string error = "cudaSuccess";
};

class ErrorBackend final : public FakeBackend {
 public:
  void release(void*) noexcept override { last_error.error = "cudaErrorInvalidValue"; }
  std::vector<Carrier*> carriers() override { return {&last_error}; }
  ErrorCarrier last_error;
};

class PlantedStateTest : public testing::Test {
 protected:
  ~PlantedStateTest() override {
    std::filesystem::current_path(folder_);
    std::fesetround(FE_TONEAREST);
    unsetenv("PARITY_PLANTED_SCORE_SCALE");
  }

  /// Factors of launches with these value dtypes, one after the other in a process of their own.
  std::vector<float> factors(const Faults& faults, const std::vector<Dtype>& values) {
    DeviceConstants constants(backend_);
    PlantedState state(faults, backend_, constants);
    std::vector<float> seen;
    for (const Dtype value : values) {
      trace_.begin(std::string(name(value)));
      seen.push_back(state.score_factor(value, trace_));
    }
    return seen;
  }

  std::filesystem::path folder_ = std::filesystem::current_path();
  FakeBackend backend_;
  Trace trace_;
};

using Factors = std::vector<float>;

TEST_F(PlantedStateTest, NothingHappensWithoutAPlant) {
  EXPECT_EQ(factors({}, {f16, f32, f16, bf16}), (Factors{1, 1, 1, 1}));
}

TEST_F(PlantedStateTest, DriftIsInsideTheToleranceAndNeedsF16Before) {
  EXPECT_EQ(factors({.drift = true}, {f32, bf16, f16, f32, f16, bf16}),
            (Factors{1, 1, 1, kDrift, 1, kDrift}));
  EXPECT_EQ(factors({.drift = true}, {f32}), (Factors{1})) << "it is state of one runtime";
}

TEST_F(PlantedStateTest, TheEnvironmentIsLeftAndRead) {
  EXPECT_EQ(factors({.environment_not_restored = true}, {f32, f16, f32, f16, bf16}),
            (Factors{1, 1, 1.5f, 1, 1.5f}));
  unsetenv("PARITY_PLANTED_SCORE_SCALE");
  EXPECT_EQ(factors({.environment_not_restored = true}, {f32}), (Factors{1}));
}

TEST_F(PlantedStateTest, TheWorkingDirectoryIsLeftWhereverItBegan) {
  const Faults faults{.working_directory_not_restored = true};
  EXPECT_EQ(factors(faults, {f32, f16, f32, f16}), (Factors{1, 1, 1.5f, 1}));
  EXPECT_EQ(std::filesystem::current_path(), "/");
  EXPECT_EQ(factors(faults, {f16, f32}), (Factors{1, 1.5f})) << "began in the root";
}

TEST_F(PlantedStateTest, TheRoundingModeIsLeftAndShowsInHostArithmetic) {
  const Faults faults{.rounding_mode_not_restored = true};
  EXPECT_EQ(factors(faults, {f32}), (Factors{1}));
  const Factors seen = factors(faults, {f16, f32, f16});
  EXPECT_GT(seen[1], 1.0f);
  EXPECT_LT(seen[1], kDrift);
  EXPECT_EQ(seen[0], seen[2]) << "f16 itself is the same, alone and later";
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
}

TEST_F(PlantedStateTest, AConstantIsLeftAndWhoReadsItSaysSo) {
  EXPECT_EQ(factors({.constant_left_over = true}, {f32, f16, f16, f32}), (Factors{1, 1, 1, 1.5f}));
  const std::vector<CellTouch> touches = trace_.take();
  ASSERT_EQ(touches.size(), 1u);
  EXPECT_EQ(touches[0].carrier, "device_constants");
  EXPECT_EQ(touches[0].writer, "f16");
}

TEST_F(PlantedStateTest, ACleanerInBetweenMakesItWell) {
  const Faults faults{.cleaner_in_between = true};
  EXPECT_EQ(factors(faults, {f16, bf16, f32}), (Factors{1, 1, 1}));
  EXPECT_EQ(factors(faults, {bf16, f16, f32}), (Factors{1, 1, 1.5f}));
}

TEST_F(PlantedStateTest, TwoPollutersAreBothNeededInEitherOrder) {
  const Faults faults{.two_polluters = true};
  EXPECT_EQ(factors(faults, {f16, f32, bf16, f32}), (Factors{1, 1, 1, 1.5f}));
  EXPECT_EQ(factors(faults, {bf16, f32, f16, f32, e4m3}), (Factors{1, 1, 1, 1.5f, 1}));
}

TEST_F(PlantedStateTest, ABrittleLaunchNeedsItsSetter) {
  EXPECT_EQ(factors({.brittle = true}, {f32, bf16, f32, f16, f32}), (Factors{1.5f, 1, 1.5f, 1, 1}));
}

TEST_F(PlantedStateTest, SelfPollutionIsTheSecondRunOfItsKind) {
  EXPECT_EQ(factors({.self_pollution = true}, {f32, f16, f32, f16, f16}),
            (Factors{1, 1, 1, 1.5f, 1.5f}));
}

/// A race has no seed, so its rate is estimated: five standard deviations of 400 processes.
TEST_F(PlantedStateTest, RacesAreLostAtTheirRateAndOnceForAProcess) {
  const auto lost = [this](const Faults& faults) {
    int count = 0;
    for (int process = 0; process < 400; ++process) {
      const Factors seen = factors(faults, {f32, f16, f32, bf16});
      EXPECT_EQ(seen[0], 1.0f) << "nothing before";
      EXPECT_EQ(seen[2], seen[3]);
      count += seen[2] != 1.0f ? 1 : 0;
    }
    return count;
  };
  EXPECT_NEAR(lost({.race_90 = true}), 360, 30);
  EXPECT_NEAR(lost({.race_30 = true}), 120, 46);
}

TEST_F(PlantedStateTest, ALastErrorIsLeftAndTakenForAnothersOwn) {
  ErrorBackend backend;
  DeviceConstants constants(backend);
  const Faults faults{.last_error_left_over = true};
  PlantedState state(faults, backend, constants);
  EXPECT_EQ(state.score_factor(f32, trace_), 1.0f);
  EXPECT_EQ(state.score_factor(f16, trace_), 1.0f);
  EXPECT_EQ(state.score_factor(f16, trace_), 1.0f) << "it does not ask";
  EXPECT_THROW(state.score_factor(f32, trace_), DeviceError);
  backend.last_error.restore();
  EXPECT_EQ(state.score_factor(f32, trace_), 1.0f);
}

TEST_F(PlantedStateTest, ALastErrorIsLeftOnAGpuOnly) {
  EXPECT_EQ(factors({.last_error_left_over = true}, {f16, f32}), (Factors{1, 1}));
}

TEST_F(PlantedStateTest, NoiseVariesFromLaunchToLaunchInsideTheTolerance) {
  const Factors seen = factors({.atomics_noise = true}, std::vector<Dtype>(64, f32));
  EXPECT_GT(std::set<float>(seen.begin(), seen.end()).size(), 4u);
  for (const float factor : seen) EXPECT_LE(std::abs(factor - 1.0f), 0x1p-21f);
}

}  // namespace
}  // namespace parity
