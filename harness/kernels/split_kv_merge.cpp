// The one description of split_kv_merge: its axes, its cases, and how it is launched.
#include "device/split_kv_merge.hpp"

#include "harness/kernel_spec.hpp"
#include "harness/kernels/launch_variant.hpp"
#include "harness/kernels/split_kv_merge_expectation.hpp"
#include "harness/kernels/split_kv_merge_inputs.hpp"
#include "harness/kernels/split_kv_merge_variants.hpp"

namespace parity {
namespace {

/// Each pair differs in one dtype alone, so that a module cache keyed by head dim is seen: `empty`,
/// which reads no value, in the dtype it writes.
std::vector<std::string> smoke() {
  return {"split_kv_merge/v=bf16,out=f32/d=64,h=8/single",
          "split_kv_merge/v=bf16,out=f16/d=64,h=8/single",
          "split_kv_merge/v=f32,out=bf16/d=96,h=3/ragged",
          "split_kv_merge/v=f16,out=bf16/d=96,h=3/ragged",
          "split_kv_merge/v=f32,out=f32/d=128,h=1/empty",
          "split_kv_merge/v=f32,out=bf16/d=128,h=1/empty",
          "split_kv_merge/v=f32,out=f16/d=256,h=2/nan",
          "split_kv_merge/v=f16,out=f16/d=256,h=2/nan"};
}

std::vector<VariantSpec> modules(const Case& c) {
  return {split_kv_merge_variant(c.dtype("v"), c.dtype("out"), c.constant("d"))};
}

std::string launch(Runtime& runtime, const Case&, const DeviceTensors& buffers) {
  return split_kv_merge(runtime, {.v = buffers.at("v"),
                                  .lse = buffers.at("lse"),
                                  .o_indptr = buffers.at("o_indptr"),
                                  .out = buffers.at("out"),
                                  .lse_out = buffers.at("lse_out"),
                                  .checked = true});
}

}  // namespace

KernelSpec split_kv_merge_spec() {
  const std::vector<Dtype> floats = {Dtype::f32, Dtype::f16, Dtype::bf16};
  return {.name = "split_kv_merge",
          .operation = "split_kv_merge",
          .dtypes = {{"v", floats}, {"out", floats}},
          .constants = {{"d", all_head_dims()}, {"h", {1, 2, 3, 8}}},
          .recipes = split_kv_merge_recipes(),
          .degenerate_recipes = split_kv_merge_degenerate_recipes(),
          .smoke = smoke(),
          .requirements = {{{"d", "h"},
                            "d must be a multiple of 8 from 8 to 256, h 1 to 4096",
                            split_kv_merge_valid}},
          .inputs = split_kv_merge_inputs,
          .input_types = split_kv_merge_input_types,
          .outputs = split_kv_merge_outputs,
          .reference = split_kv_merge_expectation,
          .modules = modules,
          .launch = launch,
          .entry_point = "parity::split_kv_merge",
          .variants = split_kv_merge_variants};
}

}  // namespace parity
