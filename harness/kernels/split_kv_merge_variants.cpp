// Asks split_kv_merge_variant for everything.
#include "harness/kernels/split_kv_merge_variants.hpp"

#include "device/split_kv_merge.hpp"

namespace parity {
namespace {

/// Beyond what the kernel takes.
constexpr std::int64_t kLargestHeadDim = 1024;

}  // namespace

std::vector<LaunchVariant> split_kv_merge_variants() {
  constexpr Dtype kAny = Dtype::f32;
  const auto vs = accepted(all_dtypes(), [](Dtype v) { split_kv_merge_variant(v, kAny, 64); });
  const auto outs =
      accepted(all_dtypes(), [](Dtype out) { split_kv_merge_variant(kAny, out, 64); });
  const auto head_dims = accepted(one_to(kLargestHeadDim), [](std::int64_t head_dim) {
    split_kv_merge_variant(kAny, kAny, head_dim);
  });
  std::vector<LaunchVariant> all;
  for (const Dtype v : vs)
    for (const Dtype out : outs)
      for (const std::int64_t head_dim : head_dims)
        all.push_back({.asked = {"split_kv_merge", {{"D", head_dim}}, {{"v", v}, {"out", out}}},
                       .spec = split_kv_merge_variant(v, out, head_dim)});
  return all;
}

}  // namespace parity
