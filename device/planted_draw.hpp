// What the plant rng_offset_carry does to a sampling launch: the steps that it draws with. Nothing
// when it is off.
#pragma once

#include <cstdint>

#include "datasets/dtype.hpp"
#include "device/device_buffer.hpp"
#include "device/device_tensor.hpp"

namespace parity {

class Runtime;

/// Must live until the last launch that is given its steps was started.
class PlantedDraw {
 public:
  /// `values`: dtype of what is sampled from; `step`: u64 [B] in device memory.
  PlantedDraw(Runtime& runtime, Dtype values, const DeviceTensor& step);

  /// In device memory: what the caller gave, or a copy that goes on where the stream stands.
  const unsigned long long* step() const;

 private:
  const void* given_;
  DeviceBuffer moved_;
};

}  // namespace parity
