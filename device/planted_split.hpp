// What the plant dirty_workspace does to a split; nothing when it is off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_tensor.hpp"
#include "device/split_rows.hpp"

namespace parity {

class Backend;
class Runtime;

/// Keeps what the partials of rows without tokens hold before they are computed, and puts it back.
class PlantedSplit {
 public:
  /// `out`: f32 [chunks, Hq, D], `lse`: f32 [chunks, Hq]; without memory there is nothing to keep.
  PlantedSplit(Runtime& runtime, const SplitPlan& split,
               const std::vector<std::int32_t>& page_indptr, const DeviceTensor& out,
               const DeviceTensor& lse);

  /// Once the partials are launched; waits for them where planted.
  void after_partials() const;

 private:
  struct Kept {
    std::byte* at;
    std::vector<std::byte> bytes;
  };

  void keep(const DeviceTensor& tensor, std::int32_t chunk);

  Backend& backend_;
  std::vector<Kept> kept_;
};

}  // namespace parity
