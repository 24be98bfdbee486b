// One GPU through the static CUDA runtime, which needs no driver until it is first called.
// Everything runs in order on the default stream.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"
#include "device/backend.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_graph.hpp"
#include "device/cuda_state.hpp"
#include "device/no_device.hpp"

namespace parity {
namespace {

/// Launches below this need no leave for their dynamic shared memory.
constexpr std::size_t kSharedByDefault = std::size_t{48} << 10;

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// The version of the CUDA API that the driver offers; 0 without a driver.
int driver_api_version() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

/// "580.82.07" as the kernel module gives it, else "CUDA 13.0".
std::string driver_text() {
  std::string word;
  if (std::ifstream file("/sys/module/nvidia/version"); file >> word) return word;
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string line; std::getline(file, line);) {
    std::istringstream line_words(line);
    while (line_words >> word)
      if (word.find('.') != std::string::npos &&
          word.find_first_not_of("0123456789.") == std::string::npos)
        return word;
  }
  return "CUDA " + version_text(driver_api_version());
}

/// Throws NoDevice where no GPU answers, DeviceError where one does and the driver is too old.
void require_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  const int driver = driver_api_version();
  if (error == cudaErrorInsufficientDriver && driver > 0)
    throw DeviceError(
        fmt::format("the driver offers CUDA {}, this program was built with CUDA {}; update the "
                    "driver, or build with "
                    "a CUDA Toolkit no newer than it",
                    version_text(driver), version_text(CUDART_VERSION)));
  if (driver == 0) throw NoDevice("no CUDA device: no driver is loaded here; " + cuda_words(error));
  if (error == cudaErrorNoDevice) throw NoDevice("no CUDA device: " + cuda_words(error));
  // A GPU that is there and does not answer must not be taken for none: a nightly would pass on the
  // host.
  if (error != cudaSuccess)
    throw DeviceError("the CUDA driver is loaded but does not answer: " + cuda_words(error));
  if (count == 0) throw NoDevice("no CUDA device: none is visible; see CUDA_VISIBLE_DEVICES");
}

DeviceIdentity identify() {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, 0), "read the device's properties");
  // The suffix opens the instructions of exactly this architecture (wgmma and its kin).
  const char* suffix = properties.major >= 9 ? "a" : "";
  return {properties.name, fmt::format("sm_{}{}{}", properties.major, properties.minor, suffix),
          driver_text(), properties.multiProcessorCount};
}

std::vector<char> read_image(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty())
    throw DeviceError(
        fmt::format("module image {} cannot be read; run again to rebuild it", path.string()));
  return bytes;
}

class CudaModule final : public Module {
 public:
  /// `image` is an ELF file; bytes behind its end are not looked at.
  CudaModule(const std::vector<char>& image, const std::filesystem::path& file,
             const std::string& kernel) {
    check_cuda(
        cudaLibraryLoadData(&library_, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        fmt::format("load {}", file.string()));
    const cudaError_t error = cudaLibraryGetKernel(&kernel_, library_, kernel.c_str());
    if (error == cudaSuccess) return;
    cudaLibraryUnload(library_);
    check_cuda(error, fmt::format("find kernel '{}' in {}", kernel, file.string()));
  }
  ~CudaModule() override { cudaLibraryUnload(library_); }
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  /// The form in which the runtime's launch calls take a cudaKernel_t.
  const void* function() const { return reinterpret_cast<const void*>(kernel_); }

 private:
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

class CudaStopwatch final : public Stopwatch {
 public:
  CudaStopwatch() {
    check_cuda(cudaEventCreate(&begin_), "create an event");
    const cudaError_t error = cudaEventCreate(&end_);
    if (error == cudaSuccess) return;
    cudaEventDestroy(begin_);
    check_cuda(error, "create an event");
  }
  ~CudaStopwatch() override {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  CudaStopwatch(const CudaStopwatch&) = delete;
  CudaStopwatch& operator=(const CudaStopwatch&) = delete;

  void start() override { check_cuda(cudaEventRecord(begin_, nullptr), "record an event"); }
  void stop() override { check_cuda(cudaEventRecord(end_, nullptr), "record an event"); }
  double seconds() override {
    check_cuda(cudaEventSynchronize(end_), "finish what is timed");
    float milliseconds = 0.0f;
    check_cuda(cudaEventElapsedTime(&milliseconds, begin_, end_), "read the time between events");
    return milliseconds * 1e-3;
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

dim3 to_cuda(const Dim3& extent) {
  return {extent.x, extent.y, extent.z};
}

std::string describe(const LaunchShape& shape) {
  return fmt::format("launch grid ({},{},{}), block ({},{},{}), {} bytes of dynamic shared memory",
                     shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x, shape.block.y,
                     shape.block.z, shape.shared_bytes);
}

class CudaBackend final : public Backend {
 public:
  CudaBackend() {
    require_device();
    check_cuda(cudaSetDevice(0), "use the first visible device");
    identity_ = identify();
    state_ = make_cuda_state();
  }

  std::string_view name() const override { return "cuda"; }
  const DeviceIdentity& identity() const override { return identity_; }

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    check_cuda(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)),
               fmt::format("allocate {} bytes", bytes));
    return memory;
  }
  void release(void* memory) noexcept override { cudaFree(memory); }
  void fill(void* memory, std::byte value, std::size_t bytes) override {
    if (bytes > 0)
      check_cuda(cudaMemset(memory, std::to_integer<int>(value), bytes), "fill memory");
  }
  void copy_in(void* device, std::span<const std::byte> host) override {
    if (!host.empty())
      check_cuda(cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice),
                 "copy to the device");
  }
  void copy_out(std::span<std::byte> host, const void* device) override {
    if (!host.empty())
      check_cuda(cudaMemcpy(host.data(), device, host.size(), cudaMemcpyDeviceToHost),
                 "copy from the device");
  }

  std::unique_ptr<Module> load(const std::filesystem::path& file,
                               const std::string& kernel) override {
    return std::make_unique<CudaModule>(read_image(file), file, kernel);
  }

  void launch(const Module& module, const LaunchShape& shape, const void* params,
              std::size_t /*params_bytes*/) override {
    const void* function = function_of(module);
    const std::unique_lock<std::mutex> leave = leave_for(function, shape);
    void* arguments[] = {const_cast<void*>(params)};  // Only read: copied before the call returns.
    check_cuda(cudaLaunchKernel(function, to_cuda(shape.grid), to_cuda(shape.block), arguments,
                                shape.shared_bytes, nullptr),
               describe(shape));
  }

  std::unique_ptr<Graph> capture(std::vector<PreparedLaunch> launches) override {
    std::vector<const void*> functions;
    for (const PreparedLaunch& launch : launches) {
      functions.push_back(function_of(*launch.module));
      leave_for(functions.back(), launch.shape);
    }
    return make_cuda_graph(std::move(launches), functions);
  }

  void synchronize() override { check_cuda(cudaDeviceSynchronize(), "finish the launches"); }
  std::unique_ptr<Stopwatch> stopwatch() override { return std::make_unique<CudaStopwatch>(); }

  std::vector<Carrier*> carriers() override {
    std::vector<Carrier*> out;
    for (const auto& carrier : state_) out.push_back(carrier.get());
    return out;
  }

 private:
  static const void* function_of(const Module& module) {
    return dynamic_cast<const CudaModule&>(module).function();
  }

  /// Leave for the launch's dynamic shared memory, where it needs any. It is the function's, not
  /// the launch's: as long as this is held, no other thread asks for less.
  std::unique_lock<std::mutex> leave_for(const void* function, const LaunchShape& shape) {
    if (shape.shared_bytes <= kSharedByDefault) return {};
    std::unique_lock leave(shared_leave_);
    check_cuda(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shape.shared_bytes)),
               describe(shape));
    return leave;
  }

  DeviceIdentity identity_;
  std::vector<std::unique_ptr<Carrier>> state_;
  std::mutex shared_leave_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() {
  return std::make_unique<CudaBackend>();
}

}  // namespace parity
