// What public launch functions refuse alike. Each message opens with who refuses, and names the
// argument.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"
#include "device/backend.hpp"
#include "device/device_tensor.hpp"

namespace parity {

/// Throws UsageError with the formatted words, after who refuses.
struct Refuse {
  std::string_view who;

  template <class... Parts>
  [[noreturn]] void operator()(fmt::format_string<Parts...> format, Parts&&... parts) const {
    throw UsageError(
        fmt::format("{}: {}", who, fmt::format(format, std::forward<Parts>(parts)...)));
  }
};

/// Throws UsageError unless the dtype is f32, f16 or bf16.
void check_float(std::string_view who, std::string_view axis, Dtype dtype);
void check_float(std::string_view who, std::string_view name, const DeviceTensor& tensor);

bool is_fp8(Dtype dtype);
/// Throws UsageError unless the dtype is f32, f16, bf16, e4m3 or e5m2.
void check_float_or_fp8(std::string_view who, std::string_view axis, Dtype dtype);

/// Throws UsageError unless `head_dim` is a multiple of 8 up to 256. `name`: "head_dim of q".
void check_head_dim(std::string_view who, std::string_view name, std::int64_t head_dim);

/// Throws UsageError for another type.
void check_type(std::string_view who, std::string_view name, const DeviceTensor& tensor,
                const TensorType& want);

/// Throws UsageError for a tensor with elements and without memory, or with memory that is not
/// aligned to that many bytes.
void check_memory(std::string_view who, std::string_view name, const DeviceTensor& tensor,
                  std::uintptr_t alignment);

/// Both.
void check_tensor(std::string_view who, std::string_view name, const DeviceTensor& tensor,
                  const TensorType& want, std::uintptr_t alignment);

/// The memory that an argument names.
struct ArgumentMemory {
  std::string_view name;
  const void* data = nullptr;
  std::int64_t bytes = 0;

  static ArgumentMemory of(std::string_view name, const DeviceTensor& tensor) {
    return {name, tensor.data, static_cast<std::int64_t>(tensor.type.bytes())};
  }
};

/// Throws UsageError where an output lies on another one or on an input, naming both: blocks run in
/// any order, so some would read what others have written.
void check_apart(std::string_view who, const std::vector<ArgumentMemory>& outputs,
                 const std::vector<ArgumentMemory>& inputs);

/// An i32 tensor in host memory; waits for the device.
std::vector<std::int32_t> read_integers(Backend& backend, const DeviceTensor& tensor);

/// Throws UsageError unless `indptr` begins with 0, never falls and ends at `count` at most.
/// `holder`: what has that many, in words: "page_indices has 7 entries".
void check_indptr(std::string_view who, std::string_view name,
                  const std::vector<std::int32_t>& indptr, std::int64_t count,
                  const std::string& holder);

}  // namespace parity
