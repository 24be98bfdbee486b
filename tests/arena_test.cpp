// The arena: layout, poison, and everything a run can do wrong to its buffers.
#include "device/arena.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "datasets/errors.hpp"
#include "fake_device.hpp"

namespace parity {
namespace {

/// An input of 64 f32, then an output of 8 f16.
class ArenaTest : public testing::TestWithParam<Poison> {
 protected:
  ArenaTest() {
    for (std::int64_t i = 0; i < input_.elements(); ++i) input_.set(i, static_cast<double>(i));
    buffers_ = {{"x", input_.type(), input_.bytes()}, {"out", {Dtype::f16, {8}}, {}}};
  }

  DeviceTensors begin() { return arena_.begin(buffers_, GetParam()); }
  static std::byte* bytes(const DeviceTensors& tensors, const char* name) {
    return static_cast<std::byte*>(tensors.at(name).data);
  }
  static void write_output(const DeviceTensors& tensors) {
    std::memset(bytes(tensors, "out"), 0, 16);
  }
  std::vector<std::string> guards_after_write(std::ptrdiff_t offset, const char* name) {
    const DeviceTensors tensors = begin();
    bytes(tensors, name)[offset] = std::byte{0x42};
    return arena_.inspect().broken_guards;
  }

  FakeBackend backend_;
  Arena arena_{backend_};
  Tensor input_{Dtype::f32, {64}};
  std::vector<ArenaBuffer> buffers_;
};

using Names = std::vector<std::string>;

TEST_P(ArenaTest, WellBehavedRunIsClean) {
  const DeviceTensors tensors = begin();
  EXPECT_EQ(std::memcmp(bytes(tensors, "x"), input_.bytes().data(), input_.bytes().size()), 0);
  write_output(tensors);
  const ArenaReport report = arena_.inspect();
  EXPECT_EQ(report.unwritten, 0);
  EXPECT_EQ(report.broken_guards, Names{});
  EXPECT_EQ(report.changed_inputs, Names{});
  ASSERT_EQ(report.outputs.size(), 1u);
  EXPECT_EQ(report.outputs[0].name, "out");
  EXPECT_EQ(report.outputs[0].tensor, Tensor(Dtype::f16, {8}));
}

TEST_P(ArenaTest, EveryBufferIsAlignedWithinOneBlock) {
  const DeviceTensors tensors = begin();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensors.at("x").data) % 256, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensors.at("out").data) % 256, 0u);
  EXPECT_EQ(backend_.allocations, 1);
}

TEST_P(ArenaTest, UnwrittenElementsAreCounted) {
  begin();
  EXPECT_EQ(arena_.inspect().unwritten, 8);
  const DeviceTensors tensors = begin();
  write_output(tensors);
  std::memset(bytes(tensors, "out") + 6, std::to_integer<int>(output_fill(GetParam())), 4);
  EXPECT_EQ(arena_.inspect().unwritten, 2);
}

/// A NaN read from poison may travel through arithmetic into an output with its payload.
TEST_P(ArenaTest, PoisonThatReachedAnOutputIsNotUnwritten) {
  const DeviceTensors tensors = begin();
  std::memset(bytes(tensors, "out"), static_cast<int>(GetParam()), 16);
  EXPECT_EQ(arena_.inspect().unwritten, 0);
}

TEST_P(ArenaTest, ElementWithOneWrittenByteCountsAsWritten) {
  const DeviceTensors tensors = begin();
  write_output(tensors);
  bytes(tensors, "out")[3] = output_fill(GetParam());
  EXPECT_EQ(arena_.inspect().unwritten, 0);
}

TEST_P(ArenaTest, WriteBeforeABufferBreaksItsGuard) {
  EXPECT_EQ(guards_after_write(-1, "out"), Names{"out"});
  EXPECT_EQ(guards_after_write(-static_cast<std::ptrdiff_t>(kGuardBytes), "x"), Names{"x"});
}

TEST_P(ArenaTest, WriteBehindABufferBreaksItsGuard) {
  EXPECT_EQ(guards_after_write(16, "out"), Names{"out"});
  EXPECT_EQ(guards_after_write(256, "x"), Names{"x"});
}

TEST_P(ArenaTest, WriteIntoSlackOrTheGuardBehindItBreaksTheGuard) {
  EXPECT_EQ(guards_after_write(4 * 256 - 1, "x"), Names{"x"});
  EXPECT_EQ(guards_after_write(4 * 256 + kGuardBytes - 1, "x"), Names{"x"});
}

TEST_P(ArenaTest, ReadingFourTimesTooFarMeetsOnlyPoison) {
  const DeviceTensors tensors = begin();
  for (std::ptrdiff_t at = 256; at < 4 * 256; ++at)
    ASSERT_EQ(bytes(tensors, "x")[at], static_cast<std::byte>(GetParam())) << at;
}

TEST_P(ArenaTest, ChangedInputIsNamed) {
  const DeviceTensors tensors = begin();
  write_output(tensors);
  bytes(tensors, "x")[255] ^= std::byte{1};
  const ArenaReport report = arena_.inspect();
  EXPECT_EQ(report.changed_inputs, Names{"x"});
  EXPECT_EQ(report.broken_guards, Names{});
}

TEST_P(ArenaTest, InputWithoutElementsIsNoOutput) {
  buffers_.push_back({"none", {Dtype::i32, {0}}, std::span<const std::byte>{}});
  const DeviceTensors tensors = begin();
  EXPECT_NE(tensors.at("none").data, nullptr);
  write_output(tensors);
  EXPECT_EQ(arena_.inspect().outputs.size(), 1u);
}

TEST_P(ArenaTest, InputOfAnotherSizeIsRefused) {
  buffers_[0].type.shape = {63};
  EXPECT_THROW(begin(), UsageError);
}

TEST_P(ArenaTest, BlockGrowsAndIsPoisonedAnew) {
  begin();
  buffers_.insert(buffers_.begin(), {"big", {Dtype::u8, {100000}}, {}});
  const DeviceTensors tensors = begin();
  EXPECT_EQ(backend_.allocations, 1);
  write_output(tensors);
  const ArenaReport report = arena_.inspect();
  EXPECT_EQ(report.unwritten, 100000);
  EXPECT_EQ(report.broken_guards, Names{});
  EXPECT_EQ(report.changed_inputs, Names{});
}

/// Beyond 64 MiB the block comes back in pieces; one output spans several.
TEST_P(ArenaTest, LargeBlockIsInspectedInPieces) {
  const std::int64_t large = (std::int64_t{66} << 20) + 1;
  const Tensor pool(Dtype::u8, {large});
  const std::vector<ArenaBuffer> buffers{{"pool", pool.type(), pool.bytes()},
                                         {"out", {Dtype::u8, {large}}, {}}};
  DeviceTensors tensors = arena_.begin(buffers, GetParam());
  std::memset(bytes(tensors, "out"), 7, static_cast<std::size_t>(large - 1));
  bytes(tensors, "pool")[large - 1] = std::byte{1};
  bytes(tensors, "pool")[large + 4095] = std::byte{1};
  const ArenaReport report = arena_.inspect();
  EXPECT_EQ(report.unwritten, 1);
  EXPECT_EQ(report.changed_inputs, Names{"pool"});
  EXPECT_EQ(report.broken_guards, Names{"pool"});
  EXPECT_EQ(report.outputs.at(0).tensor.at(large - 2), 7.0);
  EXPECT_LE(backend_.largest_copy_out, static_cast<std::size_t>(large));
}

INSTANTIATE_TEST_SUITE_P(BothPatterns, ArenaTest, testing::Values(Poison::ones, Poison::high),
                         [](const auto& pattern) {
                           return pattern.param == Poison::ones ? "ones" : "high";
                         });

TEST(ArenaLayoutTest, DoesNotDependOnPoison) {
  FakeBackend backend;
  Arena arena(backend);
  const std::vector<ArenaBuffer> buffers{{"a", {Dtype::f32, {100}}, {}},
                                         {"b", {Dtype::u8, {3}}, {}}};
  const DeviceTensors ones = arena.begin(buffers, Poison::ones);
  const DeviceTensors high = arena.begin(buffers, Poison::high);
  EXPECT_EQ(ones.at("a").data, high.at("a").data);
  EXPECT_EQ(ones.at("b").data, high.at("b").data);
}

TEST(ArenaLayoutTest, MemoryIsReleasedAtTheEnd) {
  FakeBackend backend;
  { Arena(backend).begin(std::vector<ArenaBuffer>{{"a", {Dtype::f32, {100}}, {}}}, Poison::ones); }
  EXPECT_EQ(backend.allocations, 0);
}

}  // namespace
}  // namespace parity
