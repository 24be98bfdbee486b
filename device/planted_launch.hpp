// What the plants do to a launch; nothing when none is on.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/backend.hpp"
#include "device/faults.hpp"

namespace parity {

struct Launch;  // device/runtime.hpp

class PlantedLaunch {
 public:
  /// `launch` must outlive this. `awaited` is the runtime's: the output that a struck launch leaves
  /// to a later one, which `unwritten_output` then strikes in its stead.
  PlantedLaunch(const Faults& faults, Backend& backend, const Launch& launch, const void*& awaited);

  /// The grid, short of its last block under `unwritten_output`.
  LaunchShape shape() const;
  /// The parameters; under `sticky_error` with a null pointer for the input.
  std::span<const std::byte> params() const;
  /// `abort` and `hang` do not return.
  void before() const;
  /// `overrun` and `input_overwritten` write, once the kernel has ended; where its launch was
  /// recorded, before it starts.
  void after() const;

 private:
  const Faults& faults_;
  Backend& backend_;
  const Launch& launch_;
  bool struck_;
  bool lacks_block_;
  std::vector<std::byte> nulled_;
};

}  // namespace parity
