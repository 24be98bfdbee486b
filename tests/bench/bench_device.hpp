// The device that kernel benches run on: how a launch is timed on it, and the least time in which
// it could have read as many bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "device/device_buffer.hpp"
#include "device/runtime.hpp"

namespace parity {

class BenchDevice {
 public:
  /// Throws DeviceError as make_runtime does.
  BenchDevice(BackendKind kind, const std::filesystem::path& modules);

  Runtime& runtime() { return *runtime_; }
  bool on_gpu() const;

  /// What a rotation of inputs must come to, so that each is cold when its turn comes: more than
  /// twice the last cache of any GPU so far. Small on the host, whose figures are for trends.
  std::size_t rotation_bytes() const;

  /// Seconds on the device's clock of what `work` starts. Before that, untimed, the device reads
  /// rotation_bytes() of other memory: its cache then holds nothing of the inputs, and nothing that
  /// would have to be written back, and a GPU is still busy when the host has long enqueued `work`.
  double cold_seconds(const std::function<void()>& work);

  /// Seconds of reading `bytes` once, timed likewise: of several grids the one with the lowest
  /// mean. Measured when first asked for.
  double ceiling_seconds(std::size_t bytes);

 private:
  void evict();
  double mean_read_seconds(std::size_t bytes, std::int64_t blocks);
  void read(const DeviceBuffer& buffer, std::size_t bytes, std::int64_t blocks);

  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Stopwatch> stopwatch_;
  DeviceBuffer sums_;
  DeviceBuffer evicting_;
  DeviceBuffer stream_;  ///< what the ceiling reads, grown on demand
  std::map<std::size_t, double> ceilings_;
};

}  // namespace parity
