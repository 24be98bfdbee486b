// One GPU through the static CUDA runtime, which needs no driver until it is first called.
// Everything runs in order on the default stream.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <mutex>
#include <source_location>
#include <sstream>
#include <vector>

#include "device/backend.hpp"
#include "device/no_device.hpp"

namespace parity {
namespace {

/// Launches below this need no leave for their dynamic shared memory.
constexpr std::size_t kSharedByDefault = std::size_t{48} << 10;

std::string words(cudaError_t error) {
  return fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error));
}

void check(cudaError_t error, std::string_view what,
           std::source_location at = std::source_location::current()) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // Clears it where it is not sticky.
  throw DeviceError(
      fmt::format("CUDA could not {}: {} [{}:{}]", what, words(error), at.file_name(), at.line()));
}

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
  if (driver == 0) throw NoDevice("no CUDA device: no driver is loaded here; " + words(error));
  if (error == cudaErrorNoDevice) throw NoDevice("no CUDA device: " + words(error));
  // A GPU that is there and does not answer must not be taken for none: a nightly would pass on the
  // host.
  if (error != cudaSuccess)
    throw DeviceError("the CUDA driver is loaded but does not answer: " + words(error));
  if (count == 0) throw NoDevice("no CUDA device: none is visible; see CUDA_VISIBLE_DEVICES");
}

DeviceIdentity identify() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "read the device's properties");
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
    check(cudaLibraryLoadData(&library_, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          fmt::format("load {}", file.string()));
    const cudaError_t error = cudaLibraryGetKernel(&kernel_, library_, kernel.c_str());
    if (error == cudaSuccess) return;
    cudaLibraryUnload(library_);
    check(error, fmt::format("find kernel '{}' in {}", kernel, file.string()));
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
    check(cudaEventCreate(&begin_), "create an event");
    const cudaError_t error = cudaEventCreate(&end_);
    if (error == cudaSuccess) return;
    cudaEventDestroy(begin_);
    check(error, "create an event");
  }
  ~CudaStopwatch() override {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  CudaStopwatch(const CudaStopwatch&) = delete;
  CudaStopwatch& operator=(const CudaStopwatch&) = delete;

  void start() override { check(cudaEventRecord(begin_, nullptr), "record an event"); }
  void stop() override { check(cudaEventRecord(end_, nullptr), "record an event"); }
  double seconds() override {
    check(cudaEventSynchronize(end_), "finish what is timed");
    float milliseconds = 0.0f;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "read the time between events");
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
    check(cudaSetDevice(0), "use the first visible device");
    identity_ = identify();
  }

  std::string_view name() const override { return "cuda"; }
  const DeviceIdentity& identity() const override { return identity_; }

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)),
          fmt::format("allocate {} bytes", bytes));
    return memory;
  }
  void release(void* memory) noexcept override { cudaFree(memory); }
  void fill(void* memory, std::byte value, std::size_t bytes) override {
    if (bytes > 0) check(cudaMemset(memory, std::to_integer<int>(value), bytes), "fill memory");
  }
  void copy_in(void* device, std::span<const std::byte> host) override {
    if (!host.empty())
      check(cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice),
            "copy to the device");
  }
  void copy_out(std::span<std::byte> host, const void* device) override {
    if (!host.empty())
      check(cudaMemcpy(host.data(), device, host.size(), cudaMemcpyDeviceToHost),
            "copy from the device");
  }

  std::unique_ptr<Module> load(const std::filesystem::path& file,
                               const std::string& kernel) override {
    return std::make_unique<CudaModule>(read_image(file), file, kernel);
  }

  void launch(const Module& module, const LaunchShape& shape, const void* params,
              std::size_t /*params_bytes*/) override {
    const void* function = dynamic_cast<const CudaModule&>(module).function();
    // The leave is the function's, not the launch's: another thread must not ask for less
    // meanwhile.
    std::unique_lock<std::mutex> leave;
    if (shape.shared_bytes > kSharedByDefault) leave = std::unique_lock(shared_leave_);
    if (shape.shared_bytes > kSharedByDefault)
      check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shape.shared_bytes)),
            describe(shape));
    void* arguments[] = {const_cast<void*>(params)};  // Only read: copied before the call returns.
    check(cudaLaunchKernel(function, to_cuda(shape.grid), to_cuda(shape.block), arguments,
                           shape.shared_bytes, nullptr),
          describe(shape));
  }

  void synchronize() override { check(cudaDeviceSynchronize(), "finish the launches"); }
  std::unique_ptr<Stopwatch> stopwatch() override { return std::make_unique<CudaStopwatch>(); }

 private:
  DeviceIdentity identity_;
  std::mutex shared_leave_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() {
  return std::make_unique<CudaBackend>();
}

}  // namespace parity
