// What paged decode kernels have in common.
#include "harness/kernels/paged_decode_cases.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "device/paged_decode_blocks.hpp"
#include "harness/kernels/paged_decode_axes.hpp"
#include "harness/kernels/paged_decode_expectation.hpp"
#include "harness/kernels/paged_decode_input_types.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"
#include "harness/kernels/paged_decode_layout.hpp"

namespace parity {
namespace {

/// Beyond what any kernel takes.
constexpr std::int64_t kLargestHeadDim = 1024;
constexpr std::int64_t kLargestGroup = 128;
constexpr std::int64_t kLargestTile = 64;

/// "q=f32,k=f16,v=bf16" from "fhb"; longer texts as they are.
std::string dtype_text(std::string_view qkv) {
  const auto dtype = [&](std::size_t i) {
    return qkv[i] == 'f' ? "f32" : qkv[i] == 'h' ? "f16" : "bf16";
  };
  if (qkv.size() > 3) return std::string(qkv);
  return fmt::format("q={},k={},v={}", dtype(0), dtype(1), dtype(2));
}

PagePool page_pool(const Case& c, const DeviceTensors& buffers, Pool which) {
  const PageLayout layout = page_layout(c);
  const DeviceTensor& buffer = buffers.at(pool_tensor(layout, which));
  const PoolPlace place = pool_place(layout, which, buffer.type.shape);
  const Dtype dtype = buffer.type.dtype;
  return {.pages = {{dtype, {place.pages, c.constant("page"), c.constant("hkv"), c.constant("d")}},
                    static_cast<std::byte*>(buffer.data) +
                        static_cast<std::size_t>(place.offset) * size_of(dtype)},
          .stride_page = place.stride_page,
          .stride_slot = place.stride_slot,
          .stride_head = place.stride_head};
}

std::vector<std::string> smoke_ids(std::string_view kernel,
                                   const std::vector<SmokeGeometry>& geometries) {
  std::vector<std::string> ids;
  for (const SmokeGeometry& geometry : geometries)
    for (const std::string_view qkv : geometry.dtypes)
      ids.push_back(
          fmt::format("{}/{}/{}/{}", kernel, dtype_text(qkv), geometry.constants, geometry.recipe));
  return ids;
}

}  // namespace

KernelSpec paged_decode_spec(std::string_view name, const std::vector<SmokeGeometry>& smoke) {
  return {.name = std::string(name),
          .operation = "paged_decode",
          .dtypes = paged_decode_dtypes(),
          .constants = paged_decode_constants(),
          .recipes = paged_decode_recipes(),
          .uncombined_recipes = paged_decode_context_recipes(),
          .degenerate_recipes = paged_decode_degenerate_recipes(),
          .smoke = smoke_ids(name, smoke),
          .requirements = paged_decode_requirements(),
          .inputs = paged_decode_inputs,
          .input_types = paged_decode_input_types,
          .outputs = paged_decode_outputs,
          .reference = paged_decode_expectation,
          .modules = {},
          .launch = {},
          .entry_point = fmt::format("parity::{}", name)};
}

PagedDecodeArgs paged_decode_args_without_table(const Case& c, const DeviceTensors& buffers) {
  return {.q = buffers.at("q"),
          .k = page_pool(c, buffers, Pool::k),
          .v = page_pool(c, buffers, Pool::v),
          .table = {},
          .out = buffers.at("out"),
          .lse = buffers.at("lse"),
          .scale = paged_decode_scale(c),
          .k_scale = paged_decode_scales(c).k,
          .v_scale = paged_decode_scales(c).v,
          .softcap = static_cast<float>(c.constant("softcap")),
          .window = c.constant("window"),
          .page_size = c.constant("page"),
          .kv_heads = c.constant("hkv"),
          .checked = true};
}

PagedDecodeArgs paged_decode_args(const Case& c, const DeviceTensors& buffers) {
  PagedDecodeArgs args = paged_decode_args_without_table(c, buffers);
  args.table = {.indptr = buffers.at("page_indptr"),
                .indices = buffers.at("page_indices"),
                .last_page_len = buffers.at("last_page_len"),
                .first_page_offset = buffers.at("first_page_offset")};
  return args;
}

std::string launch_as_asked(Runtime& runtime, const Case& c,
                            const std::function<std::string()>& launch) {
  if (c.constant("graph") == 0) return launch();
  std::string resolved;
  runtime.replay_as_graph([&] { resolved = launch(); });
  return resolved + " graph=1";
}

PagedDecodeChoice paged_decode_choice(const Case& c) {
  return {.q = c.dtype("q"),
          .out = c.dtype("out"),
          .k = c.dtype("k"),
          .v = c.dtype("v"),
          .head_dim = c.constant("d"),
          .group_size = c.constant("hq") / c.constant("hkv"),
          .softcap = c.constant("softcap") > 0};
}

std::vector<LaunchVariant> paged_decode_variants(std::string_view kernel,
                                                 PagedDecodeVariant variant) {
  constexpr PagedDecodeChoice kAny = {Dtype::f32, Dtype::f32, Dtype::f32, Dtype::f32, 64, 1};
  const auto accepts = [&](auto PagedDecodeChoice::*field, const PagedDecodeChoice& choice) {
    return [=](auto value) {
      PagedDecodeChoice asked = choice;
      asked.*field = value;
      variant(asked);
    };
  };
  const auto ks = accepted(all_dtypes(), accepts(&PagedDecodeChoice::k, kAny));
  const auto vs = accepted(all_dtypes(), accepts(&PagedDecodeChoice::v, kAny));
  const auto head_dims =
      accepted(one_to(kLargestHeadDim), accepts(&PagedDecodeChoice::head_dim, kAny));
  std::vector<std::pair<std::int64_t, std::int64_t>> groups_and_tiles;
  for (const std::int64_t group : one_to(kLargestGroup)) {
    if (HeadBlocks::of(group).bucket != group) continue;
    PagedDecodeChoice of_group = kAny;
    of_group.group_size = group;
    for (const std::int64_t tile :
         accepted(one_to(kLargestTile), accepts(&PagedDecodeChoice::tile, of_group)))
      groups_and_tiles.emplace_back(group, tile);
  }
  std::vector<LaunchVariant> all;
  const auto add = [&](const PagedDecodeChoice& c) {
    all.push_back({.asked = {std::string(kernel),
                             {{"D", c.head_dim},
                              {"GROUP", c.group_size},
                              {"SOFTCAP", c.softcap},
                              {"TILE", c.tile}},
                             {{"q", c.q}, {"out", c.out}, {"k", c.k}, {"v", c.v}}},
                   .spec = variant(c)});
  };
  for (const Dtype q : all_dtypes()) {
    PagedDecodeChoice of_q = kAny;
    of_q.q = q;
    for (const Dtype out : accepted(all_dtypes(), accepts(&PagedDecodeChoice::out, of_q)))
      for (const Dtype k : ks)
        for (const Dtype v : vs)
          for (const std::int64_t head_dim : head_dims)
            for (const auto& [group, tile] : groups_and_tiles)
              for (const bool softcap : {false, true})
                add({q, out, k, v, head_dim, group, softcap, tile});
  }
  return all;
}

}  // namespace parity
