// NVRTC: kernel text to a CUBIN for exactly one architecture, so that no driver has to compile PTX.
#include <dlfcn.h>
#include <fmt/format.h>
#include <nvrtc.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <source_location>
#include <string_view>

#include "device/kernel_resources.hpp"
#include "device/toolchain.hpp"

namespace parity {
namespace {

void check(nvrtcResult result, std::source_location at = std::source_location::current()) {
  if (result == NVRTC_SUCCESS) return;
  throw DeviceError(fmt::format("NVRTC failed in {}:{}: {}", at.file_name(), at.line(),
                                nvrtcGetErrorString(result)));
}

class Program {
 public:
  Program(const std::string& text, const std::string& source_path) {
    check(nvrtcCreateProgram(&program_, text.c_str(), source_path.c_str(), 0, nullptr, nullptr));
  }
  ~Program() { nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> words;
    for (const std::string& option : options) words.push_back(option.c_str());
    return nvrtcCompileProgram(program_, static_cast<int>(words.size()), words.data());
  }

  std::string log() const {
    std::size_t size = 0;
    check(nvrtcGetProgramLogSize(program_, &size));
    std::string text(size, '\0');
    if (size > 0) check(nvrtcGetProgramLog(program_, text.data()));
    return text.substr(0, text.find('\0'));
  }

  std::vector<std::byte> cubin() const {
    std::size_t size = 0;
    check(nvrtcGetCUBINSize(program_, &size));
    std::vector<std::byte> image(size);
    check(nvrtcGetCUBIN(program_, reinterpret_cast<char*>(image.data())));
    return image;
  }

 private:
  nvrtcProgram program_ = nullptr;
};

/// "13.0.88" where the library's file name says it (updates of one release differ in code), else
/// "13.0".
std::string version() {
  int major = 0;
  int minor = 0;
  check(nvrtcVersion(&major, &minor));
  const std::string release = fmt::format("{}.{}", major, minor);
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&nvrtcVersion), &info) == 0 || info.dli_fname == nullptr)
    return release;
  std::error_code error;
  const std::string file = std::filesystem::canonical(info.dli_fname, error).filename().string();
  const std::size_t at = file.find(".so." + release + ".");
  return error || at == std::string::npos ? release
                                          : file.substr(at + std::string_view(".so.").size());
}

/// Throws DeviceError where this NVRTC is older than the device.
void require_known(const std::string& architecture, const std::string& nvrtc_version) {
  constexpr std::string_view kPrefix = "sm_";
  int wanted = 0;
  if (architecture.starts_with(kPrefix))
    std::from_chars(architecture.data() + kPrefix.size(), architecture.data() + architecture.size(),
                    wanted);
  int count = 0;
  check(nvrtcGetNumSupportedArchs(&count));
  std::vector<int> known(static_cast<std::size_t>(count));
  check(nvrtcGetSupportedArchs(known.data()));
  if (std::ranges::find(known, wanted) == known.end())
    throw DeviceError(fmt::format(
        "NVRTC {} cannot compile for {} (it knows sm_{}); install a CUDA Toolkit that can",
        nvrtc_version, architecture, fmt::join(known, ", sm_")));
}

void compile_or_throw(Program& program, const std::vector<std::string>& options,
                      const std::string& nvrtc_version, const std::string& source_path) {
  if (program.compile(options) == NVRTC_SUCCESS) return;
  throw CompileError(fmt::format("NVRTC {} refused {}: {}\n{}", nvrtc_version, source_path,
                                 first_error(program.log()), program.log()));
}

class NvrtcToolchain final : public Toolchain {
 public:
  explicit NvrtcToolchain(const std::string& architecture)
      : identity_{"nvrtc",
                  version(),
                  architecture,
                  {"--gpu-architecture=" + architecture, "--std=c++17", "--fmad=false",
                   "--generate-line-info"}} {
    require_known(architecture, identity_.version);
  }

  const ToolchainIdentity& identity() const override { return identity_; }
  std::string image_suffix() const override { return ".cubin"; }

  std::vector<std::byte> compile(const std::string& text,
                                 const std::string& source_path) const override {
    Program program(text, source_path);
    compile_or_throw(program, identity_.options, identity_.version, source_path);
    return program.cubin();
  }

 private:
  ToolchainIdentity identity_;
};

}  // namespace

std::unique_ptr<Toolchain> make_nvrtc_toolchain(const std::string& architecture) {
  return std::make_unique<NvrtcToolchain>(architecture);
}

KernelResources nvrtc_resources(const std::string& text, const std::string& source_path,
                                const ToolchainIdentity& toolchain) {
  std::vector<std::string> options = toolchain.options;
  options.push_back("--ptxas-options=-v");
  Program program(text, source_path);
  compile_or_throw(program, options, toolchain.version, source_path);
  return read_ptxas_report(program.log());
}

}  // namespace parity
