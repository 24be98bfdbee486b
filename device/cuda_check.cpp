// What CUDA says of an error.
#include "device/cuda_check.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "datasets/errors.hpp"

namespace parity {

std::string cuda_words(int error) {
  const auto code = static_cast<cudaError_t>(error);
  return fmt::format("{} ({})", cudaGetErrorString(code), cudaGetErrorName(code));
}

void check_cuda(int error, std::string_view what, std::source_location at) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // Clears it where it is not sticky.
  throw DeviceError(fmt::format("CUDA could not {}: {} [{}:{}]", what, cuda_words(error),
                                at.file_name(), at.line()));
}

}  // namespace parity
