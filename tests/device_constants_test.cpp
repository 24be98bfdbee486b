// Constants in device memory: what is found there, who wrote it, and that it can be read, restored
// and set.
#include "device/device_constants.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "fake_device.hpp"

namespace parity {
namespace {

using Cells = std::vector<CellState>;

class DeviceConstantsTest : public testing::Test {
 protected:
  void write(const std::string& run, float value) {
    trace_.begin(run);
    constants_.write("scale", value, trace_);
  }

  FakeBackend backend_;
  Trace trace_;
  DeviceConstants constants_{backend_};
};

TEST_F(DeviceConstantsTest, AValueStaysAndTheTraceSaysWhoseItIs) {
  write("a", 1.5f);
  EXPECT_EQ(trace_.take(),
            (std::vector<CellTouch>{{"device_constants", "scale", true, "", "", "a"}}));
  trace_.begin("b");
  EXPECT_EQ(constants_.read("scale", trace_), 1.5f);
  EXPECT_EQ(trace_.take(),
            (std::vector<CellTouch>{{"device_constants", "scale", false, "", "", "a"}}));
}

TEST_F(DeviceConstantsTest, WhatARunReadsOfItsOwnIsNotTheHistorys) {
  write("a", 1.0f);
  write("a", 2.0f);
  EXPECT_EQ(constants_.read("scale", trace_), 2.0f);
  EXPECT_TRUE(trace_.take().back().wrote);
  trace_.begin("a");  // the same case again
  constants_.read("scale", trace_);
  EXPECT_FALSE(trace_.take().back().wrote);
}

TEST_F(DeviceConstantsTest, NothingIsNothing) {
  trace_.begin("a");
  EXPECT_EQ(constants_.read("scale", trace_), std::nullopt);
  EXPECT_TRUE(trace_.take().empty());
  write("a", 1.0f);
  constants_.erase("scale");
  EXPECT_EQ(constants_.read("scale", trace_), std::nullopt);
  EXPECT_EQ(backend_.allocations, 0);
}

TEST_F(DeviceConstantsTest, RestoredItIsAsFreshAndSetItHoldsTheSameBits) {
  const float odd = std::bit_cast<float>(0x7fa00001u);  // a signalling NaN
  write("a", odd);
  constants_.write("bias", -0.0f, trace_);
  const Cells left = constants_.snapshot();
  EXPECT_EQ(left, (Cells{{"bias", "0x80000000"}, {"scale", "0x7fa00001"}}));
  constants_.restore();
  EXPECT_TRUE(constants_.snapshot().empty());
  EXPECT_EQ(backend_.allocations, 0);
  constants_.set(left);
  EXPECT_EQ(constants_.snapshot(), left);
  trace_.begin("b");
  EXPECT_EQ(std::bit_cast<std::uint32_t>(constants_.read("bias", trace_).value()), 0x80000000u);
  EXPECT_EQ(trace_.take().back().writer, "");
}

TEST_F(DeviceConstantsTest, ReadingAsksTheDevice) {
  write("a", 1.0f);
  EXPECT_EQ(backend_.largest_copy_out, 0u);
  constants_.read("scale", trace_);
  EXPECT_EQ(backend_.largest_copy_out, sizeof(float));
}

TEST_F(DeviceConstantsTest, WhatIsNoF32IsRefusedBeforeAnythingChanges) {
  write("a", 1.0f);
  for (const char* wrong : {"", "1.5", "0x3f80000", "0x3f8000000", "0x3F800000", "0x3f80000g"})
    EXPECT_THROW(constants_.set({{"scale", wrong}}), UsageError) << wrong;
  EXPECT_EQ(constants_.snapshot(), (Cells{{"scale", "0x3f800000"}}));
}

}  // namespace
}  // namespace parity
