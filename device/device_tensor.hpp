// A typed view of device memory; owns nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datasets/errors.hpp"
#include "datasets/tensor.hpp"

namespace parity {

struct DeviceTensor {
  TensorType type;
  void* data = nullptr;
};

/// The buffers of one run by name, inputs and outputs alike.
struct DeviceTensors {
  std::vector<std::pair<std::string, DeviceTensor>> list;

  /// Throws UsageError naming the tensor that is missing.
  const DeviceTensor& at(std::string_view name) const {
    for (const auto& [known, tensor] : list)
      if (known == name) return tensor;
    throw UsageError("no tensor is called '" + std::string(name) + "' in this run");
  }
};

}  // namespace parity
