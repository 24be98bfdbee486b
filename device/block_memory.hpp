// Shared memory of the running block: one dynamic array and the static ones that kernel text
// declares, all poisoned with 0xff at block start. Under AddressSanitizer nothing between them can
// be touched.
#pragma once

#include <array>
#include <cstddef>

namespace parity {

class BlockMemory {
 public:
  BlockMemory();
  ~BlockMemory();
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;

  /// Forgets every static array. `dynamic_bytes` is at most kMaxSharedBytes.
  void begin_launch(std::size_t dynamic_bytes);
  /// Poisons every array.
  void begin_block();

  void* dynamic() const { return memory_; }
  /// The array that belongs to `declaration`; null when shared memory is exhausted. Does not throw.
  void* array(const void* declaration, std::size_t bytes) noexcept;

 private:
  struct Array {
    const void* declaration;
    std::size_t offset;
    std::size_t bytes;
  };

  std::byte* memory_;
  std::size_t dynamic_bytes_ = 0;
  std::size_t end_ = 0;   ///< of the last array
  std::size_t used_ = 0;  ///< sum of all arrays
  std::array<Array, 64> arrays_;
  std::size_t count_ = 0;
};

}  // namespace parity
