// Callbacks that let HDF5's core driver write into memory of ours.
#include "datasets/file_image.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace parity::hdf5 {
namespace {

constexpr std::size_t kGrowBytes = std::size_t{4} << 20;
/// HDF5 file format, superblock versions 2 and 3: where the end-of-file address lies.
constexpr std::size_t kEndAddressOffset = 28;

void* same_object(void* self) {
  return self;
}
herr_t leave_object(void*) {
  return 0;
}

}  // namespace

FileImage::~FileImage() {
  std::free(memory_);
}

void* FileImage::resize(void* memory, std::size_t size, H5FD_file_image_op_t, void* self) {
  void* moved = std::realloc(memory, size);
  if (moved == nullptr) return nullptr;
  auto& image = *static_cast<FileImage*>(self);
  image.memory_ = moved;
  image.capacity_ = size;
  return moved;
}

herr_t FileImage::keep(void*, H5FD_file_image_op_t, void*) {
  return 0;
}

void FileImage::attach(hid_t access, const Failures& failures) {
  failures.check(H5Pset_fapl_core(access, kGrowBytes, false), "file access");
  H5FD_file_image_callbacks_t callbacks{};
  callbacks.image_realloc = resize;
  callbacks.image_free = keep;
  callbacks.udata_copy = same_object;
  callbacks.udata_free = leave_object;
  callbacks.udata = this;
  failures.check(H5Pset_file_image_callbacks(access, &callbacks), "file access");
}

std::span<const std::byte> FileImage::bytes(std::size_t user_block,
                                            const Failures& failures) const {
  const std::size_t at = user_block + kEndAddressOffset;
  std::uint64_t size = 0;
  if (capacity_ >= at + sizeof size)
    std::memcpy(&size, static_cast<const std::byte*>(memory_) + at, sizeof size);
  if (size == 0 || size > capacity_) failures.raise("HDF5 left no whole file in memory");
  return {static_cast<const std::byte*>(memory_), static_cast<std::size_t>(size)};
}

}  // namespace parity::hdf5
