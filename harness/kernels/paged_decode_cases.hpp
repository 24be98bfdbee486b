// What the specs of paged decode kernels share: all but modules, launch and own axes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "device/paged_decode_blocks.hpp"
#include "device/runtime.hpp"
#include "harness/case.hpp"
#include "harness/kernel_spec.hpp"
#include "harness/kernels/launch_variant.hpp"

namespace parity {

/// Smoke cases of one geometry. At least two differ in one dtype alone, so that a module cache
/// keyed by geometry is seen; one alone differs from another geometry's in the page size or the
/// layout alone, so that a weak key of plans or graphs is.
struct SmokeGeometry {
  std::string_view constants;  ///< "d=64,hq=8,hkv=2,page=16"
  std::string_view recipe;
  /// q, k, v: f = f32, h = f16, b = bf16. Other dtypes in full: "q=bf16,out=f32,k=e4m3,v=e5m2".
  std::vector<std::string_view> dtypes;
};

/// The spec of kernel `name` as far as its operation decides it, and `smoke` as ids in the order
/// given. What the kernel adds: modules, launch, variants, published cases, and own axes behind
/// these.
KernelSpec paged_decode_spec(std::string_view name, const std::vector<SmokeGeometry>& smoke);

/// Arguments of a case's launch, with a checked page table.
PagedDecodeArgs paged_decode_args(const Case& c, const DeviceTensors& buffers);
/// The same for kernels that are given other lists of pages.
PagedDecodeArgs paged_decode_args_without_table(const Case& c, const DeviceTensors& buffers);

/// Calls `launch` once, which returns the resolved plan: as it is, or where the case's axis `graph`
/// is 1 with its launches recorded and replayed. What `launch` uses must live until the kernels
/// have ended.
std::string launch_as_asked(Runtime& runtime, const Case& c,
                            const std::function<std::string()>& launch);

/// What the module of a case is compiled for.
PagedDecodeChoice paged_decode_choice(const Case& c);

/// Key of a kernel's module, as in device/paged_decode_v1.hpp.
using PagedDecodeVariant = VariantSpec (*)(const PagedDecodeChoice& choice);

/// All that `variant`, of `kernel`, does not refuse, one for each group bucket.
std::vector<LaunchVariant> paged_decode_variants(std::string_view kernel,
                                                 PagedDecodeVariant variant);

}  // namespace parity
