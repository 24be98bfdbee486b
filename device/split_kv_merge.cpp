// Arguments to module key, grid and parameters of split_kv_merge.
#include "device/split_kv_merge.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"
#include "device/kernels/split_kv_merge_params.cuh"

namespace parity {
namespace {

template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> format, Parts&&... parts) {
  throw UsageError("split_kv_merge: " + fmt::format(format, std::forward<Parts>(parts)...));
}

void check_dtype(std::string_view axis, Dtype dtype) {
  if (dtype != Dtype::f32 && dtype != Dtype::f16 && dtype != Dtype::bf16)
    refuse("{} is {}, but must be f32, f16 or bf16", axis, name(dtype));
}

void check_tensor(std::string_view name, const DeviceTensor& tensor, const TensorType& want,
                  std::uintptr_t alignment) {
  if (tensor.type != want)
    refuse("{} is {}, but must be {}", name, tensor.type.to_string(), want.to_string());
  if (want.elements() == 0) return;
  if (tensor.data == nullptr) refuse("{} has no memory", name);
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % alignment != 0)
    refuse("{} must be aligned to {} bytes", name, alignment);
}

void check(const SplitKvMergeArgs& args) {
  const Shape& v = args.v.type.shape;
  if (v.size() != 3)
    refuse("v is {}, but must be [partials, heads, head_dim]", args.v.type.to_string());
  if (v[1] < 1) refuse("v has {} heads, but must have at least 1", v[1]);
  const Shape& indptr = args.o_indptr.type.shape;
  if (args.o_indptr.type.dtype != Dtype::i32 || indptr.size() != 1 || indptr[0] < 1)
    refuse("o_indptr is {}, but must be i32[rows + 1]", args.o_indptr.type.to_string());
  const std::int64_t rows = indptr[0] - 1;
  check_tensor("v", args.v, args.v.type, 16);
  check_tensor("lse", args.lse, {Dtype::f32, {v[0], v[1]}}, 4);
  check_tensor("o_indptr", args.o_indptr, args.o_indptr.type, 4);
  check_tensor("out", args.out, {args.out.type.dtype, {rows, v[1], v[2]}}, 16);
  check_tensor("lse_out", args.lse_out, {Dtype::f32, {rows, v[1]}}, 4);
  if (v[0] > std::numeric_limits<std::int32_t>::max())
    refuse("v has {} partials, but may have at most 2^31 - 1", v[0]);
  if (rows > std::numeric_limits<std::int32_t>::max() / v[1])
    refuse("o_indptr has {} rows of {} heads: more than a grid of 2^31 - 1 blocks", rows, v[1]);
}

void check_indptr(Backend& backend, const SplitKvMergeArgs& args) {
  std::vector<std::int32_t> indptr(static_cast<std::size_t>(args.o_indptr.type.elements()));
  backend.copy_out(std::as_writable_bytes(std::span(indptr)), args.o_indptr.data);
  if (indptr.front() != 0) refuse("o_indptr must begin with 0, not {}", indptr.front());
  for (std::size_t row = 0; row + 1 < indptr.size(); ++row)
    if (indptr[row + 1] < indptr[row])
      refuse("o_indptr falls from {} to {} in row {}", indptr[row], indptr[row + 1], row);
  if (indptr.back() > args.v.type.shape[0])
    refuse("o_indptr ends at {}, but v has {} partials", indptr.back(), args.v.type.shape[0]);
}

}  // namespace

VariantSpec split_kv_merge_variant(Dtype v, Dtype out, std::int64_t head_dim) {
  check_dtype("v", v);
  check_dtype("out", out);
  if (head_dim < 8 || head_dim > 256 || head_dim % 8 != 0)
    refuse("head_dim is {}, but must be a multiple of 8 up to 256", head_dim);
  return {.kernel = "split_kv_merge",
          .constants = {{"D", head_dim}},
          .dtypes = {{"v", v}, {"out", out}}};
}

std::string split_kv_merge(Runtime& runtime, const SplitKvMergeArgs& args) {
  check(args);
  const Shape& v = args.v.type.shape;
  const VariantSpec variant = split_kv_merge_variant(args.v.type.dtype, args.out.type.dtype, v[2]);
  if (args.checked) check_indptr(runtime.backend(), args);
  const std::int64_t rows = args.o_indptr.type.shape[0] - 1;
  const SplitKvMergeParams params{.v = args.v.data,
                                  .lse = static_cast<const float*>(args.lse.data),
                                  .o_indptr = static_cast<const int*>(args.o_indptr.data),
                                  .out = args.out.data,
                                  .lse_out = static_cast<float*>(args.lse_out.data),
                                  .heads = static_cast<unsigned>(v[1])};
  runtime.launch({.variant = variant,
                  .shape = {.grid = {static_cast<std::uint32_t>(rows * v[1])},
                            .block = {kSplitKvMergeThreads}},
                  .params = std::as_bytes(std::span(&params, 1)),
                  .input = args.v,
                  .output = args.out});
  return fmt::format("merge threads={}", kSplitKvMergeThreads);
}

}  // namespace parity
