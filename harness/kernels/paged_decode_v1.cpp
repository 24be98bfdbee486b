// The one description of paged_decode_v1: its axes, its cases, and how it is launched.
#include "device/paged_decode_v1.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "harness/case.hpp"
#include "harness/kernel_spec.hpp"
#include "harness/kernels/paged_decode_expectation.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"

namespace parity {
namespace {

/// Cases of one geometry: they meet in one cell of a module cache keyed by geometry alone.
struct SmokeGroup {
  std::string_view geometry;             ///< constants/recipe
  std::vector<std::string_view> dtypes;  ///< q, k, v: f = f32, h = f16, b = bf16
};

/// All 27 dtype tuples, all D, group sizes, page sizes and short recipes. In every geometry some
/// two cases differ in one dtype alone.
std::vector<SmokeGroup> smoke_groups() {
  return {
      {"d=64,hq=8,hkv=2,page=16/ragged", {"fff", "fhf", "fbf", "hff", "bff", "ffh", "ffb", "fhh"}},
      {"d=64,hq=2,hkv=2,page=1/short", {"bbb", "bhb"}},
      {"d=64,hq=2,hkv=1,page=8/ragged", {"hhh", "hhb"}},
      {"d=64,hq=4,hkv=1,page=32/empty", {"hbb", "bbb"}},
      {"d=64,hq=5,hkv=1,page=16/exact", {"bbb", "bbh"}},
      {"d=96,hq=3,hkv=3,page=16/ragged", {"fbb", "fhb"}},
      {"d=96,hq=4,hkv=2,page=1/offset", {"hbh", "hhh"}},
      {"d=96,hq=4,hkv=1,page=8/exact", {"bhh", "hhh"}},
      {"d=96,hq=8,hkv=1,page=32/ragged", {"hfh", "hff"}},
      {"d=128,hq=1,hkv=1,page=32/exact", {"bfb", "bff"}},
      {"d=128,hq=2,hkv=1,page=16/offset", {"fbh", "fbf"}},
      {"d=128,hq=8,hkv=2,page=1/ragged", {"hbf", "hhf"}},
      {"d=128,hq=10,hkv=2,page=8/offset", {"bhf", "bbf"}},
      {"d=256,hq=2,hkv=2,page=8/ragged", {"hfb", "hfh"}},
      {"d=256,hq=2,hkv=1,page=32/nan", {"bfh", "bhh"}},
      {"d=256,hq=4,hkv=1,page=16/offset", {"hff", "fff"}},
      {"d=256,hq=8,hkv=1,page=1/exact", {"bbb", "fbb"}},
  };
}

std::string_view dtype_of(char letter) {
  return letter == 'f' ? "f32" : letter == 'h' ? "f16" : "bf16";
}

std::vector<std::string> smoke_ids() {
  std::vector<std::string> ids;
  for (const SmokeGroup& group : smoke_groups())
    for (const std::string_view qkv : group.dtypes)
      ids.push_back(fmt::format("paged_decode_v1/q={},k={},v={}/{}", dtype_of(qkv[0]),
                                dtype_of(qkv[1]), dtype_of(qkv[2]), group.geometry));
  return ids;
}

std::vector<VariantSpec> modules(const Case& c) {
  return {paged_decode_v1_variant(c.dtype("q"), c.dtype("k"), c.dtype("v"), c.constant("d"),
                                  c.constant("hq") / c.constant("hkv"))};
}

std::string launch(Runtime& runtime, const Case& c, const DeviceTensors& buffers) {
  return paged_decode_v1(runtime, {.q = buffers.at("q"),
                                   .k = PagePool::contiguous(buffers.at("k_pages")),
                                   .v = PagePool::contiguous(buffers.at("v_pages")),
                                   .table = {.indptr = buffers.at("page_indptr"),
                                             .indices = buffers.at("page_indices"),
                                             .last_page_len = buffers.at("last_page_len"),
                                             .first_page_offset = buffers.at("first_page_offset")},
                                   .out = buffers.at("out"),
                                   .lse = buffers.at("lse"),
                                   .scale = paged_decode_scale(c),
                                   .page_size = c.constant("page"),
                                   .kv_heads = c.constant("hkv"),
                                   .checked = true});
}

}  // namespace

KernelSpec paged_decode_v1_spec() {
  const std::vector<Dtype> floats = {Dtype::f32, Dtype::f16, Dtype::bf16};
  return {.name = "paged_decode_v1",
          .operation = "paged_decode",
          .dtypes = {{"q", floats}, {"k", floats}, {"v", floats}},
          .constants = {{"d", {64, 96, 128, 256}},
                        {"hq", {1, 2, 3, 4, 5, 8, 10, 16}},
                        {"hkv", {1, 2, 3}},
                        {"page", {1, 8, 16, 32}}},
          .recipes = paged_decode_recipes(),
          .degenerate_recipes = paged_decode_degenerate_recipes(),
          .smoke = smoke_ids(),
          .valid = paged_decode_valid,
          .inputs = paged_decode_inputs,
          .outputs = paged_decode_outputs,
          .reference = paged_decode_expectation,
          .modules = modules,
          .launch = launch,
          .entry_point = "parity::paged_decode_v1"};
}

}  // namespace parity
