// Output bytes of a run, one file per digest.
#include "harness/blob_folder.hpp"

#include <fmt/format.h>

#include <fstream>
#include <system_error>

#include "datasets/errors.hpp"
#include "datasets/replaced_file.hpp"

namespace parity {
namespace fs = std::filesystem;

Tensor BlobFolder::read(const TensorType& type, const Digest& digest) const {
  const fs::path path = folder_ / digest.hex();
  Tensor tensor(type);
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(path, failed);
  if (failed) {
    throw DatasetError(fmt::format(
        "the worker's output {} is missing ({}); a worker writes each output's bytes before "
        "it answers",
        path.string(), failed.message()));
  }
  if (size != tensor.bytes().size()) {
    throw DatasetError(fmt::format("the worker's output {} has {} bytes, but {} has {}",
                                   path.string(), size, type.to_string(), tensor.bytes().size()));
  }
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(tensor.bytes().data()),
          static_cast<std::streamsize>(tensor.bytes().size()));
  if (!in || parity::digest(tensor) != digest) {
    throw DatasetError(
        fmt::format("the worker's output {} is not what its digest says of {}: damaged, or "
                    "digested in another way",
                    path.string(), type.to_string()));
  }
  return tensor;
}

bool BlobFolder::sound(const TensorType& type, const Digest& digest) const {
  try {
    (void)read(type, digest);
    return true;
  } catch (const DatasetError&) {
    std::error_code ignored;
    fs::remove(folder_ / digest.hex(), ignored);
    return false;
  }
}

void write_blob(const fs::path& folder, const Digest& digest,
                std::span<const std::byte> row_major) {
  const fs::path path = folder / digest.hex();
  std::error_code failed;
  if (fs::file_size(path, failed) == row_major.size() && !failed) return;
  try {
    ReplacedFile file(path, 0666);  // Not synced: a run's blobs need not survive the machine.
    file.write(row_major);
    file.commit();
  } catch (const std::system_error&) {
    throw DatasetError(fmt::format(
        "cannot write the output {}: no space left, or the folder is missing", path.string()));
  }
}

}  // namespace parity
