// Layout and poison of a block's shared memory.
#include "device/block_memory.hpp"

#include <cstring>
#include <new>

#include "device/sanitizers.hpp"
#include "device/simt_emulator.hpp"

namespace parity {
namespace {

constexpr std::align_val_t kAlignment{256};
constexpr std::size_t kGap = 64;  // between arrays
constexpr std::size_t kCapacity = kMaxSharedBytes + 65 * (kGap + 256);

void forbid([[maybe_unused]] std::byte* memory, [[maybe_unused]] std::size_t bytes) {
#if PARITY_ASAN
  __asan_poison_memory_region(memory, bytes);
#endif
}

void permit([[maybe_unused]] std::byte* memory, [[maybe_unused]] std::size_t bytes) {
#if PARITY_ASAN
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

}  // namespace

BlockMemory::BlockMemory()
    : memory_(static_cast<std::byte*>(::operator new(kCapacity, kAlignment))) {
  begin_launch(0);
}

BlockMemory::~BlockMemory() {
  permit(memory_, kCapacity);
  ::operator delete(memory_, kAlignment);
}

void BlockMemory::begin_launch(std::size_t dynamic_bytes) {
  forbid(memory_, kCapacity);
  permit(memory_, dynamic_bytes);
  dynamic_bytes_ = end_ = used_ = dynamic_bytes;
  count_ = 0;
}

void BlockMemory::begin_block() {
  std::memset(memory_, 0xff, dynamic_bytes_);
  for (std::size_t i = 0; i < count_; ++i)
    std::memset(memory_ + arrays_[i].offset, 0xff, arrays_[i].bytes);
}

void* BlockMemory::array(const void* declaration, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < count_; ++i)
    if (arrays_[i].declaration == declaration) return memory_ + arrays_[i].offset;
  if (count_ == arrays_.size() || bytes > kMaxSharedBytes - used_) return nullptr;
  const std::size_t offset = (end_ + kGap + 255) / 256 * 256;
  arrays_[count_++] = {declaration, offset, bytes};
  end_ = offset + bytes;
  used_ += bytes;
  permit(memory_ + offset, bytes);
  std::memset(memory_ + offset, 0xff, bytes);
  return memory_ + offset;
}

}  // namespace parity
