// The CPU as a device: aligned host memory, modules from shared objects, launches through the
// emulator.
#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"
#include "device/backend.hpp"
#include "device/host_cpu.hpp"
#include "device/kernels/host_abi.cuh"
#include "device/simt_emulator.hpp"

namespace parity {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::uint32_t kMaxGridY = 65535;  // as on a GPU
/// Not the number of cores: plans, and so bits, must be the same on every host.
constexpr std::int64_t kMultiprocessors = 8;

std::string loader_error() {
  const char* const text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

class LoadedModule final : public Module {
 public:
  // The loader knows an object by its path: two images must not share one while either is loaded.
  LoadedModule(const std::filesystem::path& file, const std::string& kernel)
      : kernel_(kernel), object_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL), &dlclose) {
    if (object_ == nullptr)
      throw DeviceError(
          fmt::format("module '{}' cannot be loaded: {}", file.string(), loader_error()));
    const std::string symbol = kernel + "_module";
    description_ = static_cast<const HostModule*>(dlsym(object_.get(), symbol.c_str()));
    if (description_ == nullptr)
      throw DeviceError(
          fmt::format("module '{}' has no kernel '{}': {}", file.string(), kernel, loader_error()));
    if (description_->abi_version != kHostAbiVersion)
      throw DeviceError(
          fmt::format("module '{}' was built for version {} of the host backend, this is "
                      "version {}; delete the file",
                      file.string(), description_->abi_version, kHostAbiVersion));
  }

  const std::string& kernel() const { return kernel_; }
  const HostModule& description() const { return *description_; }

 private:
  std::string kernel_;
  std::unique_ptr<void, int (*)(void*)> object_;
  const HostModule* description_ = nullptr;
};

void check_launch(const LoadedModule& module, const LaunchShape& shape, std::size_t params_bytes) {
  const auto refuse = [&](const std::string& reason) {
    throw DeviceError(fmt::format("launch of kernel '{}' is refused: {}", module.kernel(), reason));
  };
  const Dim3 grid = shape.grid;
  const Dim3 block = shape.block;
  if (grid.x == 0 || grid.y == 0 || grid.x > 0x7fffffffu || grid.y > kMaxGridY || grid.z != 1)
    refuse(fmt::format("grid {}x{}x{}; it must be 1..2147483647 x 1..65535 x 1", grid.x, grid.y,
                       grid.z));
  if (block.y != 1 || block.z != 1 || block.x == 0 || block.x > module.description().max_threads)
    refuse(fmt::format("block {}x{}x{}; the kernel takes 1..{} x 1 x 1", block.x, block.y, block.z,
                       module.description().max_threads));
  if (params_bytes != module.description().params_bytes)
    refuse(fmt::format("{} bytes of parameters were given, it takes {}", params_bytes,
                       module.description().params_bytes));
}

class HostStopwatch final : public Stopwatch {
 public:
  void start() override { begin_ = std::chrono::steady_clock::now(); }
  void stop() override { end_ = std::chrono::steady_clock::now(); }
  double seconds() override { return std::chrono::duration<double>(end_ - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_, end_;
};

/// As many emulators as there ever were launches at the same time: one runs one launch.
class EmulatorPool {
 public:
  class Lent {
   public:
    Lent(EmulatorPool& pool, std::unique_ptr<SimtEmulator> emulator)
        : pool_(pool), emulator_(std::move(emulator)) {}
    ~Lent() {
      const std::scoped_lock lock(pool_.mutex_);
      pool_.idle_.push_back(std::move(emulator_));
    }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    SimtEmulator* operator->() const { return emulator_.get(); }

   private:
    EmulatorPool& pool_;
    std::unique_ptr<SimtEmulator> emulator_;
  };

  Lent lend() {
    const std::scoped_lock lock(mutex_);
    if (idle_.empty()) {
      idle_.reserve(++made_);  // so that giving back cannot throw
      return {*this, std::make_unique<SimtEmulator>()};
    }
    std::unique_ptr<SimtEmulator> emulator = std::move(idle_.back());
    idle_.pop_back();
    return {*this, std::move(emulator)};
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<SimtEmulator>> idle_;
  std::size_t made_ = 0;
};

class HostBackend final : public Backend {
 public:
  std::string_view name() const override { return "host"; }
  const DeviceIdentity& identity() const override { return identity_; }

  void* allocate(std::size_t bytes) override {
    const std::size_t rounded = (bytes / kAlignment + 1) * kAlignment;
    void* const memory = bytes < rounded ? std::aligned_alloc(kAlignment, rounded) : nullptr;
    if (memory == nullptr)
      throw DeviceError(fmt::format("the host backend cannot allocate {} bytes", bytes));
    return memory;
  }
  void release(void* memory) noexcept override { std::free(memory); }
  void fill(void* memory, std::byte value, std::size_t bytes) override {
    std::memset(memory, std::to_integer<int>(value), bytes);
  }
  void copy_in(void* device, std::span<const std::byte> host) override {
    if (!host.empty()) std::memcpy(device, host.data(), host.size());
  }
  void copy_out(std::span<std::byte> host, const void* device) override {
    if (!host.empty()) std::memcpy(host.data(), device, host.size());
  }

  std::unique_ptr<Module> load(const std::filesystem::path& file,
                               const std::string& kernel) override {
    return std::make_unique<LoadedModule>(file, kernel);
  }

  void launch(const Module& module, const LaunchShape& shape, const void* params,
              std::size_t params_bytes) override {
    const auto* const loaded = dynamic_cast<const LoadedModule*>(&module);
    if (loaded == nullptr)
      throw DeviceError("a module of another backend cannot run on the host backend");
    check_launch(*loaded, shape, params_bytes);
    const EmulatorPool::Lent emulator = emulators_.lend();
    emulator->run({.kernel = loaded->kernel(),
                   .entry = loaded->description().entry,
                   .params = params,
                   .grid_x = shape.grid.x,
                   .grid_y = shape.grid.y,
                   .block_threads = shape.block.x,
                   .dynamic_shared_bytes = shape.shared_bytes});
  }
  void synchronize() override {}  // launch() returns when the grid has ended
  std::unique_ptr<Stopwatch> stopwatch() override { return std::make_unique<HostStopwatch>(); }

 private:
  static DeviceIdentity identify() {
    const HostCpu cpu = read_host_cpu();
    return {.name = cpu.model,
            .architecture = cpu.architecture,
            .driver = "host",
            .multiprocessors = kMultiprocessors};
  }

  DeviceIdentity identity_ = identify();
  EmulatorPool emulators_;
};

}  // namespace

std::unique_ptr<Backend> make_host_backend() {
  return std::make_unique<HostBackend>();
}

}  // namespace parity
