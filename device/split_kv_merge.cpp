// Arguments to module key, grid and parameters of split_kv_merge.
#include "device/split_kv_merge.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <utility>

#include "datasets/errors.hpp"
#include "device/argument_checks.hpp"
#include "device/kernels/split_kv_merge_params.cuh"

namespace parity {
namespace {

constexpr std::string_view kWho = "split_kv_merge";
constexpr Refuse refuse{kWho};

void check(const SplitKvMergeArgs& args) {
  const Shape& v = args.v.type.shape;
  if (v.size() != 3)
    refuse("v is {}, but must be [partials, heads, head_dim]", args.v.type.to_string());
  if (v[1] < 1) refuse("v has {} heads, but must have at least 1", v[1]);
  const Shape& indptr = args.o_indptr.type.shape;
  if (args.o_indptr.type.dtype != Dtype::i32 || indptr.size() != 1 || indptr[0] < 1)
    refuse("o_indptr is {}, but must be i32[rows + 1]", args.o_indptr.type.to_string());
  const std::int64_t rows = indptr[0] - 1;
  check_tensor(kWho, "v", args.v, args.v.type, 16);
  check_tensor(kWho, "lse", args.lse, {Dtype::f32, {v[0], v[1]}}, 4);
  check_tensor(kWho, "o_indptr", args.o_indptr, args.o_indptr.type, 4);
  check_tensor(kWho, "out", args.out, {args.out.type.dtype, {rows, v[1], v[2]}}, 16);
  check_tensor(kWho, "lse_out", args.lse_out, {Dtype::f32, {rows, v[1]}}, 4);
  check_apart(kWho,
              {ArgumentMemory::of("out", args.out), ArgumentMemory::of("lse_out", args.lse_out)},
              {ArgumentMemory::of("v", args.v), ArgumentMemory::of("lse", args.lse),
               ArgumentMemory::of("o_indptr", args.o_indptr)});
  if (v[0] > std::numeric_limits<std::int32_t>::max())
    refuse("v has {} partials, but may have at most 2^31 - 1", v[0]);
  if (rows > std::numeric_limits<std::int32_t>::max() / v[1])
    refuse("o_indptr has {} rows of {} heads: more than a grid of 2^31 - 1 blocks", rows, v[1]);
}

}  // namespace

VariantSpec split_kv_merge_variant(Dtype v, Dtype out, std::int64_t head_dim) {
  check_float(kWho, "v", v);
  check_float(kWho, "out", out);
  check_head_dim(kWho, "head_dim", head_dim);
  return {.kernel = "split_kv_merge",
          .constants = {{"D", head_dim}},
          .dtypes = {{"v", v}, {"out", out}}};
}

std::string split_kv_merge(Runtime& runtime, const SplitKvMergeArgs& args) {
  check(args);
  const Shape& v = args.v.type.shape;
  const VariantSpec variant = split_kv_merge_variant(args.v.type.dtype, args.out.type.dtype, v[2]);
  if (args.checked)
    check_indptr(kWho, "o_indptr", read_integers(runtime.backend(), args.o_indptr), v[0],
                 fmt::format("v has {} partials", v[0]));
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
