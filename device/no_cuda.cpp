// The CUDA side of a build without the CUDA Toolkit: says so.
#include <fmt/format.h>

#include "device/backend.hpp"
#include "device/kernel_resources.hpp"
#include "device/no_device.hpp"
#include "device/toolchain.hpp"

namespace parity {
namespace {

constexpr const char* kHowTo = "install the CUDA Toolkit >= 12.8 and reconfigure";

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() {
  throw NoDevice(
      fmt::format("this program was built without CUDA and cannot use a GPU; {}", kHowTo));
}

std::unique_ptr<Toolchain> make_nvrtc_toolchain(const std::string& architecture) {
  throw NoDevice(fmt::format("this program was built without CUDA and cannot compile for {}; {}",
                             architecture, kHowTo));
}

KernelResources nvrtc_resources(const std::string&, const std::string&,
                                const ToolchainIdentity& toolchain) {
  throw NoDevice(fmt::format("this program was built without CUDA and cannot compile for {}; {}",
                             toolchain.architecture, kHowTo));
}

}  // namespace parity
