// Faults of launches and splits: each does what it says, to what it strikes and to nothing else.
#include "device/planted_launch.hpp"

#include <gtest/gtest.h>
#include <sys/time.h>

#include <array>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "device/planted_split.hpp"
#include "device/runtime.hpp"
#include "fake_device.hpp"
#include "temporary_folder.hpp"

namespace parity {
namespace {

constexpr std::size_t kInputBytes = 64;
constexpr std::size_t kOutputBytes = 24;
constexpr std::size_t kGuard = 64;

struct Params {
  const void* input;
  void* output;
  std::uint64_t heads;
};

VariantSpec attention(Dtype k, Dtype v) {
  return {.kernel = "paged_decode_v1",
          .constants = {},
          .dtypes = {{"q", Dtype::f32}, {"k", k}, {"v", v}}};
}

VariantSpec merge(Dtype v, Dtype out) {
  return {.kernel = "split_kv_merge", .constants = {}, .dtypes = {{"v", v}, {"out", out}}};
}

const VariantSpec kStruck = attention(Dtype::f16, Dtype::bf16);

/// A launch of three blocks with an input and an output in memory of its own.
class PlantedLaunchTest : public testing::Test {
 protected:
  Launch launch(const VariantSpec& variant, bool writes_output = true) {
    return {.variant = variant,
            .shape = {.grid = {3}, .block = {128}},
            .params = std::as_bytes(std::span(&params_, 1)),
            .input = input_,
            .output = output_,
            .writes_output = writes_output};
  }
  PlantedLaunch planted(const Faults& faults, const Launch& launch) {
    return {faults, backend_, launch, awaited_};
  }
  std::uint32_t blocks(const Faults& faults, const VariantSpec& variant,
                       bool writes_output = true) {
    const Launch one = launch(variant, writes_output);
    return planted(faults, one).shape().grid.x;
  }
  Params params(const Faults& faults, const VariantSpec& variant) {
    const Launch one = launch(variant);
    const PlantedLaunch made = planted(faults, one);
    Params seen{};
    EXPECT_EQ(made.params().size(), sizeof seen);
    std::memcpy(&seen, made.params().data(), sizeof seen);
    return seen;
  }
  /// The bytes that the launch's end has changed: "input 0..16", "output 24..40".
  std::string changed(const Faults& faults, const VariantSpec& variant) {
    input_bytes_.fill(1);
    output_bytes_.fill(1);
    const Launch one = launch(variant);
    const PlantedLaunch made = planted(faults, one);
    made.before();
    made.after();
    return range("input", input_bytes_) + range("output", output_bytes_);
  }

  FakeBackend backend_;
  const void* awaited_ = nullptr;
  alignas(16) std::array<std::uint8_t, kInputBytes> input_bytes_{};
  alignas(16) std::array<std::uint8_t, kOutputBytes + kGuard> output_bytes_{};
  DeviceTensor input_{{Dtype::u8, {kInputBytes}}, input_bytes_.data()};
  DeviceTensor output_{{Dtype::u8, {kOutputBytes}}, output_bytes_.data()};
  Params params_{input_bytes_.data(), output_bytes_.data(), 8};

 private:
  template <std::size_t n>
  static std::string range(const std::string& name, const std::array<std::uint8_t, n>& bytes) {
    const auto same = [](std::uint8_t byte) { return byte == 1; };
    const auto first = std::find_if_not(bytes.begin(), bytes.end(), same);
    if (first == bytes.end()) return "";
    const auto last = std::find_if_not(bytes.rbegin(), bytes.rend(), same).base();
    return name + " " + std::to_string(first - bytes.begin()) + ".." +
           std::to_string(last - bytes.begin());
  }
};

TEST_F(PlantedLaunchTest, WithoutAPlantNothingHappens) {
  EXPECT_EQ(blocks({}, kStruck), 3u);
  EXPECT_EQ(std::memcmp(&params_, launch(kStruck).params.data(), sizeof params_), 0);
  EXPECT_EQ(params({}, kStruck).input, input_.data);
  EXPECT_EQ(changed({}, kStruck), "");
}

TEST_F(PlantedLaunchTest, StrikesByTheLastDtypesOfTheVariant) {
  const Faults faults{.unwritten_output = true};
  EXPECT_EQ(blocks(faults, kStruck), 2u);
  EXPECT_EQ(blocks(faults, merge(Dtype::f16, Dtype::bf16)), 2u);
  for (const VariantSpec& other :
       {attention(Dtype::bf16, Dtype::bf16), attention(Dtype::f16, Dtype::f16),
        merge(Dtype::f32, Dtype::bf16), VariantSpec{"read_stream", {}, {}}})
    EXPECT_EQ(blocks(faults, other), 3u) << other.canonical();
}

TEST_F(PlantedLaunchTest, EachFaultStrikesTheSameLaunchesOnly) {
  const VariantSpec other = attention(Dtype::f16, Dtype::f16);
  const Faults all{.unwritten_output = true,
                   .overrun = true,
                   .input_overwritten = true,
                   .abort = true,
                   .hang = true,
                   .sticky_error = true};
  EXPECT_EQ(blocks(all, other), 3u);
  EXPECT_EQ(params(all, other).input, input_.data);
  EXPECT_EQ(changed(all, other), "");
}

TEST_F(PlantedLaunchTest, UnwrittenOutputStrikesTheLaunchThatWritesIt) {
  const Faults faults{.unwritten_output = true};
  EXPECT_EQ(blocks(faults, kStruck, false), 3u) << "the partial is whole";
  EXPECT_EQ(blocks(faults, merge(Dtype::f32, Dtype::bf16)), 2u) << "the merge stands for it";
  EXPECT_EQ(blocks(faults, merge(Dtype::f32, Dtype::bf16)), 3u) << "a later merge does not";
}

TEST_F(PlantedLaunchTest, UnwrittenOutputOfOneLaunchIsNotTakenOutOnAnother) {
  const Faults faults{.unwritten_output = true};
  EXPECT_EQ(blocks(faults, kStruck, false), 3u);
  EXPECT_EQ(blocks(faults, attention(Dtype::f32, Dtype::f32), false), 3u);
  EXPECT_EQ(blocks(faults, merge(Dtype::f32, Dtype::bf16)), 3u);
}

TEST_F(PlantedLaunchTest, OverrunWritesBehindTheOutputOnly) {
  EXPECT_EQ(changed({.overrun = true}, kStruck), "output 24..40");
}

TEST_F(PlantedLaunchTest, InputOverwrittenWritesTheFirstBytesOfTheInputOnly) {
  EXPECT_EQ(changed({.input_overwritten = true}, kStruck), "input 0..16");
}

TEST_F(PlantedLaunchTest, StickyErrorTakesTheInputsPointerAwayAndNothingElse) {
  const Params seen = params({.sticky_error = true}, kStruck);
  EXPECT_EQ(seen.input, nullptr);
  EXPECT_EQ(seen.output, output_.data);
  EXPECT_EQ(seen.heads, 8u);
  EXPECT_EQ(params_.input, input_.data) << "the caller's parameters are its own";
}

using PlantedLaunchDeathTest = PlantedLaunchTest;

TEST_F(PlantedLaunchDeathTest, AbortEndsTheProcess) {
  EXPECT_EXIT(changed({.abort = true}, kStruck), testing::KilledBySignal(SIGABRT), "");
}

TEST_F(PlantedLaunchDeathTest, HangDoesNotReturn) {
  const auto hang_for_a_while = [this] {
    const itimerval soon = {{}, {0, 200'000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
    changed({.hang = true}, kStruck);
    std::_Exit(0);
  };
  EXPECT_EXIT(hang_for_a_while(), testing::KilledBySignal(SIGALRM), "");
}

TEST(PlantedSplitTest, LeavesThePartialsOfRowsWithoutPagesAsTheyLay) {
  const TemporaryFolder folder;
  for (const bool planted : {true, false}) {
    Runtime runtime(std::make_unique<FakeBackend>(), std::make_unique<FakeToolchain>(),
                    folder.path(), {.dirty_workspace = planted});
    // Row 0 has two chunks, row 1 no pages and one chunk.
    const SplitPlan split{.pages_per_chunk = 1, .o_indptr = {0, 2, 3}, .chunk_row = {0, 0, 1}};
    std::array<float, 6> out{1, 1, 1, 1, 1, 1};
    std::array<float, 3> lse{1, 1, 1};
    const PlantedSplit plant(runtime, split, {0, 2, 2}, {{Dtype::f32, {3, 1, 2}}, out.data()},
                             {{Dtype::f32, {3, 1}}, lse.data()});
    out.fill(2);
    lse.fill(2);
    plant.after_partials();
    const float kept = planted ? 1 : 2;
    EXPECT_EQ(out, (std::array<float, 6>{2, 2, 2, 2, kept, kept}));
    EXPECT_EQ(lse, (std::array<float, 3>{2, 2, kept}));
  }
}

}  // namespace
}  // namespace parity
