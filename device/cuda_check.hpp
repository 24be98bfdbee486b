// Errors of the CUDA runtime as exceptions.
#pragma once

#include <source_location>
#include <string>
#include <string_view>

namespace parity {

/// `error` is a cudaError_t. "unknown error (cudaErrorUnknown)"
std::string cuda_words(int error);

/// Throws DeviceError unless `error`, a cudaError_t, is cudaSuccess: "CUDA could not " and what.
void check_cuda(int error, std::string_view what,
                std::source_location at = std::source_location::current());

}  // namespace parity
