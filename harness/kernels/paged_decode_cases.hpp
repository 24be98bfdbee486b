// What the specs of paged decode kernels share: all but modules, launch and own axes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/paged_decode_args.hpp"
#include "harness/case.hpp"
#include "harness/kernel_spec.hpp"
#include "harness/kernels/launch_variant.hpp"

namespace parity {

/// Smoke cases of one geometry. At least two differ in one dtype alone, so that a module cache
/// keyed by geometry is seen.
struct SmokeGeometry {
  std::string_view constants;  ///< "d=64,hq=8,hkv=2,page=16"
  std::string_view recipe;
  std::vector<std::string_view> dtypes;  ///< q, k, v: f = f32, h = f16, b = bf16
};

/// The spec of kernel `name` as far as its operation decides it, and `smoke` as ids in the order
/// given. What the kernel adds: modules, launch, variants, and axes behind d, hq, hkv and page.
KernelSpec paged_decode_spec(std::string_view name, const std::vector<SmokeGeometry>& smoke);

/// Arguments of a case's launch, with a checked page table.
PagedDecodeArgs paged_decode_args(const Case& c, const DeviceTensors& buffers);

/// Key of a kernel's module for dtypes of q, k and v, a head dim and a group size, as in
/// device/paged_decode_v1.hpp.
using PagedDecodeVariant = VariantSpec (*)(Dtype q, Dtype k, Dtype v, std::int64_t head_dim,
                                           std::int64_t group_size);

/// All that `variant` does not refuse, one for each group bucket.
std::vector<LaunchVariant> paged_decode_variants(std::string_view kernel,
                                                 PagedDecodeVariant variant);

}  // namespace parity
