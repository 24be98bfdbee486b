// The one description of paged_decode_v2: paged decode's axes and pages per chunk.
#include "device/paged_decode_v2.hpp"

#include "device/split_kv_merge.hpp"
#include "harness/kernels/paged_decode_axes.hpp"
#include "harness/kernels/paged_decode_cases.hpp"
#include "harness/kernels/split_kv_merge_variants.hpp"

namespace parity {
namespace {

/// More pages than any row has.
constexpr std::int64_t kWholeRows = 100000;

std::vector<SmokeGeometry> smoke() {
  return {
      {"d=96,hq=8,hkv=1,page=16,layout=hnd,ppc=1", "ragged", {"hff", "hfh"}},
      {"d=64,hq=2,hkv=1,page=8,ppc=3", "ragged", {"hhh", "hhb"}},
      {"d=64,hq=4,hkv=1,page=32,ppc=7", "empty", {"hbb", "bbb"}},
      {"d=96,hq=4,hkv=2,page=1,ppc=4", "nan", {"hbh", "bbh"}},
      {"d=96,hq=4,hkv=1,page=8,layout=interleaved,ppc=2", "exact", {"fhh", "hhh"}},
      {"d=128,hq=1,hkv=1,page=32,ppc=64", "exact", {"bfb", "bff"}},
      {"d=128,hq=10,hkv=2,page=1,softcap=5,ppc=16", "ragged", {"bhf", "bbf"}},
      {"d=256,hq=2,hkv=2,page=8,ppc=auto", "ragged", {"hfb", "hfh"}},
      {"d=256,hq=4,hkv=1,page=16,ppc=100000", "offset", {"hff", "fff"}},
      {"d=256,hq=2,hkv=1,page=16,ppc=tuned", "ragged", {"hhh", "hfh"}},
      {"d=256,hq=2,hkv=1,page=8,ppc=tuned", "ragged", {"hhh"}},
  };
}

/// The merge's too, which a plan without a split does not launch, and those of every tile that a
/// tuned plan may have.
std::vector<VariantSpec> modules(const Case& c) {
  PagedDecodeChoice choice = paged_decode_choice(c);
  std::vector<VariantSpec> all = {
      paged_decode_v2_variant(choice),
      split_kv_merge_variant(Dtype::f32, c.dtype("out"), c.constant("d"))};
  if (c.constant("ppc") != kTunedPagesPerChunk) return all;
  for (const std::int64_t tile : paged_decode_tiles(choice.group_size)) {
    choice.tile = tile;
    const VariantSpec variant = paged_decode_v2_variant(choice);
    if (variant != all.front()) all.push_back(variant);
  }
  return all;
}

/// The merge's too, of f32 partials.
std::vector<LaunchVariant> variants() {
  std::vector<LaunchVariant> all =
      paged_decode_variants("paged_decode_v2", paged_decode_v2_variant);
  for (LaunchVariant& merge : split_kv_merge_variants())
    if (merge.asked.dtypes.front().second == Dtype::f32) all.push_back(std::move(merge));
  return all;
}

std::string launch(Runtime& runtime, const Case& c, const DeviceTensors& buffers) {
  PagedDecodeArgs args = paged_decode_args(c, buffers);
  check_paged_decode_args(args);
  const PagedDecodeV2Plan plan(runtime, args, read_page_table(runtime.backend(), args.table),
                               c.constant("ppc"));
  args.checked = false;  // The plan has validated what was read; reading it again says nothing new.
  std::string resolved =
      launch_as_asked(runtime, c, [&] { return paged_decode_v2(runtime, args, plan); });
  runtime.backend().synchronize();  // The plan's arrays are in use until then.
  return resolved;
}

}  // namespace

KernelSpec paged_decode_v2_spec() {
  KernelSpec spec = paged_decode_spec("paged_decode_v2", smoke());
  spec.constants.push_back(
      {.name = "ppc",
       .values = {1, 2, 3, 4, 7, 16, 64, kWholeRows, kAutoPagesPerChunk, kTunedPagesPerChunk},
       .schedule = true,
       .words = {"tuned", "auto"},
       .first_word = kTunedPagesPerChunk});
  spec.published = paged_decode_published("paged_decode_v2", {",ppc=auto", ",ppc=16"});
  for (const char* longest : {"auto/context32k", "auto/context128k", "64/context128k"})
    spec.published.push_back(
        std::string("paged_decode_v2/q=bf16,k=bf16,v=bf16/d=128,hq=32,hkv=8,page=16,ppc=") +
        longest);
  spec.modules = modules;
  spec.launch = launch;
  spec.variants = variants;
  return spec;
}

}  // namespace parity
