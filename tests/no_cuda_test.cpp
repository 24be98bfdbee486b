// A build without the CUDA Toolkit says so.
#include <gtest/gtest.h>

#include <string>

#include "device/no_device.hpp"
#include "device/toolchain.hpp"
#include "harness/audit/compile_audit.hpp"

namespace parity {
namespace {

TEST(NoCudaTest, CompilingForAGpuIsRefusedSayingWhatToInstall) {
  try {
    compile_audit(registry(), {.architectures = {"sm_90a"}});
    FAIL() << "compiled without a compiler";
  } catch (const NoDevice& error) {
    EXPECT_NE(std::string(error.what()).find("install the CUDA Toolkit"), std::string::npos);
  }
  EXPECT_THROW(nvrtc_resources("", "x.cu", {"nvrtc", "", "sm_90a", {}}), NoDevice);
}

}  // namespace
}  // namespace parity
