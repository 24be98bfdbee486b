// No GPU answers here at all: the one failure after which `auto` may take the host instead.
#pragma once

#include "datasets/errors.hpp"

namespace parity {

class NoDevice : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace parity
