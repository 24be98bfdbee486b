// What paged decode kernels have in common.
#include "harness/kernels/paged_decode_cases.hpp"

#include <fmt/format.h>

#include "device/paged_decode_blocks.hpp"
#include "harness/kernels/paged_decode_expectation.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"

namespace parity {
namespace {

/// Beyond what any kernel takes.
constexpr std::int64_t kLargestHeadDim = 1024;
constexpr std::int64_t kLargestGroup = 128;

std::string_view dtype_of(char letter) {
  return letter == 'f' ? "f32" : letter == 'h' ? "f16" : "bf16";
}

std::vector<std::string> smoke_ids(std::string_view kernel,
                                   const std::vector<SmokeGeometry>& geometries) {
  std::vector<std::string> ids;
  for (const SmokeGeometry& geometry : geometries)
    for (const std::string_view qkv : geometry.dtypes)
      ids.push_back(fmt::format("{}/q={},k={},v={}/{}/{}", kernel, dtype_of(qkv[0]),
                                dtype_of(qkv[1]), dtype_of(qkv[2]), geometry.constants,
                                geometry.recipe));
  return ids;
}

}  // namespace

KernelSpec paged_decode_spec(std::string_view name, const std::vector<SmokeGeometry>& smoke) {
  const std::vector<Dtype> floats = {Dtype::f32, Dtype::f16, Dtype::bf16};
  return {.name = std::string(name),
          .operation = "paged_decode",
          .dtypes = {{"q", floats}, {"k", floats}, {"v", floats}},
          .constants = {{"d", {64, 96, 128, 256}},
                        {"hq", {1, 2, 3, 4, 5, 8, 10, 16}},
                        {"hkv", {1, 2, 3}},
                        {"page", {1, 8, 16, 32}}},
          .recipes = paged_decode_recipes(),
          .degenerate_recipes = paged_decode_degenerate_recipes(),
          .smoke = smoke_ids(name, smoke),
          .valid = paged_decode_valid,
          .inputs = paged_decode_inputs,
          .outputs = paged_decode_outputs,
          .reference = paged_decode_expectation,
          .modules = {},
          .launch = {},
          .entry_point = fmt::format("parity::{}", name)};
}

PagedDecodeArgs paged_decode_args(const Case& c, const DeviceTensors& buffers) {
  return {.q = buffers.at("q"),
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
          .checked = true};
}

std::vector<LaunchVariant> paged_decode_variants(std::string_view kernel,
                                                 PagedDecodeVariant variant) {
  constexpr Dtype kAny = Dtype::f32;
  const auto qs = accepted(all_dtypes(), [&](Dtype q) { variant(q, kAny, kAny, 64, 1); });
  const auto ks = accepted(all_dtypes(), [&](Dtype k) { variant(kAny, k, kAny, 64, 1); });
  const auto vs = accepted(all_dtypes(), [&](Dtype v) { variant(kAny, kAny, v, 64, 1); });
  const auto head_dims = accepted(one_to(kLargestHeadDim), [&](std::int64_t head_dim) {
    variant(kAny, kAny, kAny, head_dim, 1);
  });
  std::vector<std::int64_t> groups = one_to(kLargestGroup);
  std::erase_if(groups, [](std::int64_t group) { return HeadBlocks::of(group).bucket != group; });
  std::vector<LaunchVariant> all;
  for (const Dtype q : qs)
    for (const Dtype k : ks)
      for (const Dtype v : vs)
        for (const std::int64_t head_dim : head_dims)
          for (const std::int64_t group : groups)
            all.push_back({.asked = {std::string(kernel),
                                     {{"D", head_dim}, {"GROUP", group}},
                                     {{"q", q}, {"k", k}, {"v", v}}},
                           .spec = variant(q, k, v, head_dim, group)});
  return all;
}

}  // namespace parity
