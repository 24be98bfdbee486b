// The user block in front of a pack's HDF5 bytes: schema, digest and length of the whole, so that a
// file that is not exactly what was written is known before HDF5 looks at it. Private to the pack's
// sources.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "datasets/digest.hpp"
#include "datasets/hdf5_handle.hpp"

namespace parity::pack_seal {

/// HDF5 looks for its data behind a user block of 512 bytes, or of a larger power of two.
inline constexpr std::size_t kBlockBytes = 512;

using Block = std::array<char, kBlockBytes>;

/// The block in front of a file's other bytes: three lines (datasets/SCHEMA.md), then zeros.
Block block_of(const Digest& of_the_rest, std::uint64_t file_bytes);

struct Sealed {
  Digest digest;  ///< of all bytes behind the block
  std::uint64_t bytes = 0;
};

/// Reads the whole file. Throws DatasetError where it is missing, no regular file, foreign, of
/// another schema, cut short, or differs from what was written in any bit.
Sealed check(const hdf5::Failures& failures);

}  // namespace parity::pack_seal
