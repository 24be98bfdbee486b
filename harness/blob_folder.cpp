// Output bytes of a run, one file per digest.
#include "harness/blob_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "datasets/errors.hpp"

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

void write_blob(const fs::path& folder, const Digest& digest,
                std::span<const std::byte> row_major) {
  const fs::path path = folder / digest.hex();
  std::error_code failed;
  if (fs::file_size(path, failed) == row_major.size() && !failed) return;
  const fs::path unfinished = folder / fmt::format("{}.tmp.{}", digest.hex(), gettid());
  std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(row_major.data()),
            static_cast<std::streamsize>(row_major.size()));
  out.close();
  if (out) fs::rename(unfinished, path, failed);
  if (out && !failed) return;
  std::error_code ignored;
  fs::remove(unfinished, ignored);
  throw DatasetError(fmt::format(
      "cannot write the output {}: no space left, or the folder is missing", path.string()));
}

}  // namespace parity
