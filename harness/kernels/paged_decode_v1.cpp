// The one description of paged_decode_v1: its axes, its cases, and how it is launched.
#include "device/paged_decode_v1.hpp"

#include "harness/kernels/paged_decode_axes.hpp"
#include "harness/kernels/paged_decode_cases.hpp"

namespace parity {
namespace {

/// Together with paged_decode_v2's: all dtype tuples, head dims, group buckets, page sizes and
/// short recipes.
std::vector<SmokeGeometry> smoke() {
  return {
      {"d=64,hq=8,hkv=2,page=16", "ragged", {"fff", "fhf", "fbf", "ffh", "ffb"}},
      {"d=64,hq=8,hkv=2,page=16,graph=1", "ragged", {"fff"}},
      {"d=64,hq=8,hkv=2,page=16,layout=hnd,graph=1", "ragged", {"fff"}},
      {"d=64,hq=2,hkv=2,page=1", "short", {"bbb", "bhb"}},
      {"d=96,hq=3,hkv=3,page=16", "ragged", {"fbb", "fhb"}},
      {"d=128,hq=2,hkv=1,page=16", "offset", {"fbh", "fbf"}},
      {"d=128,hq=8,hkv=2,page=1,window=16", "ragged", {"hbf", "hhf"}},
      {"d=96,hq=8,hkv=1,page=16,window=32,softcap=5",
       "ragged",
       {"q=bf16,out=f32,k=e4m3,v=e5m2", "q=bf16,out=f32,k=e4m3,v=bf16"}},
      {"d=256,hq=8,hkv=1,page=32", "nan", {"bfh", "bhh"}},
  };
}

std::vector<VariantSpec> modules(const Case& c) {
  return {paged_decode_v1_variant(paged_decode_choice(c))};
}

std::string launch(Runtime& runtime, const Case& c, const DeviceTensors& buffers) {
  return launch_as_asked(runtime, c,
                         [&] { return paged_decode_v1(runtime, paged_decode_args(c, buffers)); });
}

}  // namespace

KernelSpec paged_decode_v1_spec() {
  KernelSpec spec = paged_decode_spec("paged_decode_v1", smoke());
  spec.published = paged_decode_published("paged_decode_v1", {""});
  spec.published.emplace_back(
      "paged_decode_v1/q=bf16,k=bf16,v=bf16/d=128,hq=32,hkv=8,page=16/context32k");
  spec.modules = modules;
  spec.launch = launch;
  spec.variants = [] { return paged_decode_variants("paged_decode_v1", paged_decode_v1_variant); };
  return spec;
}

}  // namespace parity
