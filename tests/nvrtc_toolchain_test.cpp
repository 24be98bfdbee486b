// NVRTC compiles without a GPU: images, identity, refusals. Built only where the CUDA Toolkit is.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/kernel_text.hpp"
#include "device/paged_decode_v1.hpp"
#include "device/toolchain.hpp"

namespace parity {
namespace {

const std::string kCopy = R"(extern "C" __global__ void copy(const float* from, float* to) {
  to[threadIdx.x] = from[threadIdx.x];
})";

TEST(NvrtcToolchainTest, ImageIsAnElfForTheArchitecture) {
  const auto toolchain = make_nvrtc_toolchain("sm_90a");
  EXPECT_EQ(toolchain->image_suffix(), ".cubin");
  const auto image = toolchain->compile(kCopy, "copy.cu");
  const std::string bytes(reinterpret_cast<const char*>(image.data()), image.size());
  EXPECT_TRUE(
      bytes.starts_with("\x7f"
                        "ELF"));
  EXPECT_NE(bytes.find("copy"), std::string::npos);
}

TEST(NvrtcToolchainTest, IdentityHoldsVersionArchitectureAndOptions) {
  const ToolchainIdentity id = make_nvrtc_toolchain("sm_90a")->identity();
  EXPECT_EQ(id.name, "nvrtc");
  EXPECT_EQ(id.architecture, "sm_90a");
  EXPECT_GE(std::stod(id.version), 12.8) << id.version;
  EXPECT_NE(std::ranges::find(id.options, "--gpu-architecture=sm_90a"), id.options.end());
  EXPECT_NE(id, make_nvrtc_toolchain("sm_80")->identity());
}

TEST(NvrtcToolchainTest, EqualTextGivesEqualCode) {
  const auto toolchain = make_nvrtc_toolchain("sm_90a");
  EXPECT_EQ(toolchain->compile(kCopy, "copy.cu"), toolchain->compile(kCopy, "copy.cu"));
}

TEST(NvrtcToolchainTest, RefusedTextCarriesItsLogAndPath) {
  try {
    make_nvrtc_toolchain("sm_90a")->compile("this is no kernel\n", "/modules/bad.cu");
    FAIL() << "compiled nonsense";
  } catch (const CompileError& error) {
    EXPECT_NE(std::string(error.what()).find("/modules/bad.cu"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("error:"), std::string::npos) << error.what();
  }
}

TEST(NvrtcToolchainTest, UnknownArchitectureIsADeviceErrorThatNamesIt) {
  for (const std::string architecture : {"sm_999", "sm_", "gfx90a", ""}) {
    try {
      make_nvrtc_toolchain(architecture);
      FAIL() << "took " << architecture;
    } catch (const DeviceError& error) {
      EXPECT_NE(std::string(error.what()).find("for " + architecture), std::string::npos)
          << error.what();
    }
  }
}

TEST(NvrtcToolchainTest, CompilesEveryDtypeOfPagedDecode) {
  const auto toolchain = make_nvrtc_toolchain("sm_90a");
  const auto compiles = [&](const PagedDecodeChoice& choice) {
    const VariantSpec spec = paged_decode_v1_variant(choice);
    EXPECT_NO_THROW(toolchain->compile(render(spec), "decode.cu")) << spec.canonical();
  };
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16})
    compiles({dtype, dtype, dtype, dtype, 64, 4});
  compiles({Dtype::bf16, Dtype::f32, Dtype::e4m3, Dtype::e5m2, 64, 4, true});
}

}  // namespace
}  // namespace parity
