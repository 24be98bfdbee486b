// Where modules run: memory, loading and launching. Implementations: cuda_backend, host_backend.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/carrier.hpp"

namespace parity {

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  auto operator<=>(const Dim3&) const = default;
};

struct LaunchShape {
  Dim3 grid;
  Dim3 block;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory

  auto operator<=>(const LaunchShape&) const = default;
};

/// "NVIDIA H200", "sm_90a", "580.159"; host: CPU model, features, "host".
struct DeviceIdentity {
  std::string name;
  std::string architecture;
  std::string driver;
  /// Plans that fill the device count on these; the same number on every host, so that plans are.
  std::int64_t multiprocessors = 0;
};

/// 90 of "sm_90a", as kernel text sees it; 0 where the architecture is no GPU's.
unsigned compute_capability(std::string_view architecture);

/// Times what the device does between two points of its queue.
class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  virtual void start() = 0;
  virtual void stop() = 0;
  /// From start() to stop(), once the device has come to the latter; waits for it. Throws
  /// DeviceError.
  virtual double seconds() = 0;
};

/// One loaded kernel; unloads when destroyed.
class Module {
 public:
  virtual ~Module() = default;
};

/// All that Backend::launch is given, to be launched later.
struct PreparedLaunch {
  std::shared_ptr<const Module> module;
  LaunchShape shape;
  std::vector<std::byte> params;

  auto operator<=>(const PreparedLaunch&) const = default;
};

/// Launches that are started together, any number of times; one thread at a time.
class Graph {
 public:
  virtual ~Graph() = default;
  /// Starts them, each after the one before it has ended. Throws DeviceError as launch() does.
  virtual void replay() = 0;
};

/// Thread-safe: any number of host threads may use one. A GPU runs what they launch in one queue.
class Backend {
 public:
  virtual ~Backend() = default;
  /// "cuda" or "host"
  virtual std::string_view name() const = 0;
  virtual const DeviceIdentity& identity() const = 0;

  /// Device memory aligned to 256 bytes. Throws DeviceError.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Once what was launched before has ended.
  virtual void release(void* memory) noexcept = 0;
  virtual void fill(void* memory, std::byte value, std::size_t bytes) = 0;
  virtual void copy_in(void* device, std::span<const std::byte> host) = 0;
  virtual void copy_out(std::span<std::byte> host, const void* device) = 0;

  /// Loads the image (cubin, shared object) in `file` and finds `kernel` in it. Throws DeviceError.
  virtual std::unique_ptr<Module> load(const std::filesystem::path& file,
                                       const std::string& kernel) = 0;
  /// Starts the kernel with one by-value parameter struct. Throws DeviceError when it is refused,
  /// and on the host backend also for a rendezvous that cannot complete (naming the source lines).
  virtual void launch(const Module& module, const LaunchShape& shape, const void* params,
                      std::size_t params_bytes) = 0;
  /// The launches as a graph, whose replays join the queue of launches; here one that launches them
  /// one by one. Starts nothing. It keeps the modules; this must outlive it. Throws DeviceError.
  virtual std::unique_ptr<Graph> capture(std::vector<PreparedLaunch> launches);
  /// Waits for all launches. Throws DeviceError for what they did wrong.
  virtual void synchronize() = 0;

  /// A GPU's clock is its own events, the host's a steady clock.
  virtual std::unique_ptr<Stopwatch> stopwatch() = 0;

  /// State that the device's own library keeps in this process; ambient.
  virtual std::vector<Carrier*> carriers() { return {}; }
};

std::unique_ptr<Backend> make_host_backend();

/// The first visible GPU. Throws DeviceError saying why there is none (also in a build without
/// CUDA).
std::unique_ptr<Backend> make_cuda_backend();

}  // namespace parity
