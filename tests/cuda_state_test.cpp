// What the CUDA runtime keeps for a thread.
#include "device/cuda_state.hpp"

#include <gtest/gtest.h>

#include "datasets/errors.hpp"
#include "device/backend.hpp"
#include "device/no_device.hpp"

namespace parity {
namespace {

class CudaStateTest : public testing::Test {
 protected:
  /// Null without a GPU, where every look fails anew.
  static std::unique_ptr<Backend> backend() {
    try {
      return make_cuda_backend();
    } catch (const NoDevice&) {
      return nullptr;
    }
  }
  std::vector<std::unique_ptr<Carrier>> carriers_ = make_cuda_state();
  Carrier& device_ = *carriers_.at(0);
  Carrier& error_ = *carriers_.at(1);
};

TEST_F(CudaStateTest, TheLastErrorIsLookedAtAndNotTakenThenCleared) {
  const std::unique_ptr<Backend> gpu = backend();
  if (gpu == nullptr) GTEST_SKIP() << "there is no GPU here";
  error_.restore();
  EXPECT_EQ(error_.snapshot().at(0).content, "cudaSuccess");
  int no_device_memory = 0;
  gpu->release(&no_device_memory);  // a failing call that nobody asks about
  const std::vector<CellState> left = error_.snapshot();
  EXPECT_NE(left.at(0).content, "cudaSuccess");
  EXPECT_EQ(error_.snapshot(), left) << "looking must not clear it";
  error_.restore();
  EXPECT_EQ(error_.snapshot().at(0).content, "cudaSuccess");
}

TEST_F(CudaStateTest, TheLastErrorSaysThatItCannotBeSet) {
  EXPECT_FALSE(error_.settable());
  EXPECT_THROW(error_.set(error_.snapshot()), UsageError);
  EXPECT_TRUE(device_.settable());
}

TEST_F(CudaStateTest, ADeviceThatIsNotThereIsRefusedAndLeavesNoError) {
  const std::unique_ptr<Backend> gpu = backend();
  error_.restore();
  for (const char* wrong : {"4711", "", "first", "0 "})
    EXPECT_THROW(device_.set({{"device", wrong}}), UsageError) << wrong;
  EXPECT_THROW(device_.set({}), UsageError);
  if (gpu == nullptr) GTEST_SKIP() << "there is no GPU here; what the refusals leave was not seen";
  EXPECT_EQ(device_.snapshot().at(0).content, "0");
  EXPECT_EQ(error_.snapshot().at(0).content, "cudaSuccess");
}

}  // namespace
}  // namespace parity
