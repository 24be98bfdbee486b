// Output bytes of a run, one file per digest, written by workers and read by the judge.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "harness/judge.hpp"

namespace parity {

/// Reads `<folder>/<digest in hex>`: the tensor's row-major bytes and nothing else.
class BlobFolder final : public BlobStore {
 public:
  explicit BlobFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Throws DatasetError when the file is missing, of another size, or not what its digest says.
  Tensor read(const TensorType& type, const Digest& digest) const override;

  /// Whether read() gives it. What is damaged is removed: a worker leaves as it is what it finds.
  bool sound(const TensorType& type, const Digest& digest) const;

 private:
  std::filesystem::path folder_;
};

/// Stores `row_major` under its digest, unless it is there; a temporary name first, then renamed,
/// so that any number of workers may store the same bytes. Throws DatasetError when the folder
/// cannot be written.
void write_blob(const std::filesystem::path& folder, const Digest& digest,
                std::span<const std::byte> row_major);

}  // namespace parity
