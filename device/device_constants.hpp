// Named small values that lie in device memory from launch to launch, as __constant__ memory does
// in other engines: a carrier.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/backend.hpp"
#include "device/carrier.hpp"
#include "device/device_buffer.hpp"
#include "device/trace.hpp"

namespace parity {

/// Any number of host threads may use it at the same time.
class DeviceConstants final : public Carrier {
 public:
  /// The backend must outlive it.
  explicit DeviceConstants(Backend& backend) : backend_(backend) {}

  /// From now on `name` holds `value` (f32). Waits for launches that may still read the old one.
  /// The touch is recorded in `trace`. Throws DeviceError when there is no room.
  void write(const std::string& name, float value, Trace& trace);
  /// What the device holds under `name`, copied back, bit for bit; the touch is recorded in
  /// `trace`. Nothing, also in the trace, where nothing was written.
  std::optional<float> read(const std::string& name, Trace& trace);
  void erase(const std::string& name);

  std::string_view name() const override { return "device_constants"; }
  /// content: the value's bits, "0x3fc00000" for 1.5.
  std::vector<CellState> snapshot() const override;
  void restore() override;
  void set(const std::vector<CellState>& cells) override;

 private:
  struct Constant {
    DeviceBuffer memory;  ///< one f32
    std::string writer;   ///< label of the run that wrote it last
  };
  void put(const std::string& name, float value, const std::string& writer);
  float get(const Constant& constant) const;

  Backend& backend_;
  mutable std::mutex mutex_;
  std::map<std::string, Constant> constants_;
};

}  // namespace parity
