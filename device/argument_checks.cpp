// The refusals that launch functions share.
#include "device/argument_checks.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "datasets/errors.hpp"

namespace parity {
namespace {

template <class... Parts>
[[noreturn]] void refuse(std::string_view who, fmt::format_string<Parts...> format,
                         Parts&&... parts) {
  throw UsageError(fmt::format("{}: {}", who, fmt::format(format, std::forward<Parts>(parts)...)));
}

bool is_float(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

}  // namespace

void check_float(std::string_view who, std::string_view axis, Dtype dtype) {
  if (!is_float(dtype)) refuse(who, "{} is {}, but must be f32, f16 or bf16", axis, name(dtype));
}

void check_float(std::string_view who, std::string_view name, const DeviceTensor& tensor) {
  if (!is_float(tensor.type.dtype))
    refuse(who, "{} is {}, but must be f32, f16 or bf16", name, tensor.type.to_string());
}

bool is_fp8(Dtype dtype) {
  return dtype == Dtype::e4m3 || dtype == Dtype::e5m2;
}

void check_float_or_fp8(std::string_view who, std::string_view axis, Dtype dtype) {
  if (!is_float(dtype) && !is_fp8(dtype))
    refuse(who, "{} is {}, but must be f32, f16, bf16, e4m3 or e5m2", axis, name(dtype));
}

void check_head_dim(std::string_view who, std::string_view name, std::int64_t head_dim) {
  if (head_dim < 8 || head_dim > 256 || head_dim % 8 != 0)
    refuse(who, "{} is {}, but must be a multiple of 8 up to 256", name, head_dim);
}

void check_type(std::string_view who, std::string_view name, const DeviceTensor& tensor,
                const TensorType& want) {
  if (tensor.type != want)
    refuse(who, "{} is {}, but must be {}", name, tensor.type.to_string(), want.to_string());
}

void check_memory(std::string_view who, std::string_view name, const DeviceTensor& tensor,
                  std::uintptr_t alignment) {
  if (tensor.type.elements() == 0) return;
  if (tensor.data == nullptr) refuse(who, "{} has no memory", name);
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % alignment != 0)
    refuse(who, "{} must be aligned to {} bytes", name, alignment);
}

void check_tensor(std::string_view who, std::string_view name, const DeviceTensor& tensor,
                  const TensorType& want, std::uintptr_t alignment) {
  check_type(who, name, tensor, want);
  check_memory(who, name, tensor, alignment);
}

void check_apart(std::string_view who, const std::vector<ArgumentMemory>& outputs,
                 const std::vector<ArgumentMemory>& inputs) {
  const auto require = [&](const ArgumentMemory& a, const ArgumentMemory& b) {
    const auto begin_a = reinterpret_cast<std::uintptr_t>(a.data);
    const auto begin_b = reinterpret_cast<std::uintptr_t>(b.data);
    if (a.bytes > 0 && b.bytes > 0 && begin_a < begin_b + static_cast<std::uintptr_t>(b.bytes) &&
        begin_b < begin_a + static_cast<std::uintptr_t>(a.bytes))
      refuse(who, "{} lies on {}, but an output needs memory of its own", a.name, b.name);
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) require(outputs[i], outputs[j]);
    for (const ArgumentMemory& input : inputs) require(outputs[i], input);
  }
}

std::vector<std::int32_t> read_integers(Backend& backend, const DeviceTensor& tensor) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(tensor.type.elements()));
  if (!values.empty()) backend.copy_out(std::as_writable_bytes(std::span(values)), tensor.data);
  return values;
}

void check_indptr(std::string_view who, std::string_view name,
                  const std::vector<std::int32_t>& indptr, std::int64_t count,
                  const std::string& holder) {
  if (indptr.front() != 0) refuse(who, "{} must begin with 0, not {}", name, indptr.front());
  for (std::size_t row = 0; row + 1 < indptr.size(); ++row)
    if (indptr[row + 1] < indptr[row])
      refuse(who, "{} falls from {} to {} in row {}", name, indptr[row], indptr[row + 1], row);
  if (indptr.back() > count) refuse(who, "{} ends at {}, but {}", name, indptr.back(), holder);
}

}  // namespace parity
