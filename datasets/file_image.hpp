// The bytes of an HDF5 file that is built in memory. Private to the pack's sources.
#pragma once

#include <cstddef>
#include <span>

#include "datasets/hdf5_handle.hpp"

namespace parity::hdf5 {

/// Owns the memory that HDF5's core driver writes to, also after the file is closed.
/// H5Fget_file_image would be simpler, but what it gives has a superblock whose checksum is stale.
class FileImage {
 public:
  FileImage() = default;
  ~FileImage();
  FileImage(const FileImage&) = delete;
  FileImage& operator=(const FileImage&) = delete;

  /// Makes files that are created with `access` live in this object, which must outlive them.
  void attach(hid_t access, const Failures& failures);

  /// The file's bytes, once it is closed, with the user block of `user_block` bytes that it was
  /// made with. Throws DatasetError where there is no whole file.
  std::span<const std::byte> bytes(std::size_t user_block, const Failures& failures) const;

 private:
  static void* resize(void* memory, std::size_t size, H5FD_file_image_op_t reason, void* self);
  static herr_t keep(void* memory, H5FD_file_image_op_t reason, void* self);

  void* memory_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace parity::hdf5
