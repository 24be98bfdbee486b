// The one seam for plants: deliberate faults, all off unless a plant switches them on by name.
#pragma once

namespace parity {

struct Faults {
  /// In-process module keys keep only the kernel name and the integer constants.
  bool weak_module_key = false;
  /// Once a launch has read f16 values (v = f16), later launches at other dtypes scale their scores
  /// by 1 + 2^-22: the bits change, the tolerance holds.
  bool drift = false;

  bool operator==(const Faults&) const = default;
};

}  // namespace parity
