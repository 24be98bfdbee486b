// The one description of paged_decode_cascade: paged decode's axes but for the window, and pages
// per chunk.
#include "device/paged_decode_cascade.hpp"

#include "device/split_kv_merge.hpp"
#include "harness/kernels/paged_decode_cascade_expectation.hpp"
#include "harness/kernels/paged_decode_cascade_inputs.hpp"
#include "harness/kernels/paged_decode_cases.hpp"
#include "harness/kernels/split_kv_merge_variants.hpp"

namespace parity {
namespace {

/// More pages than any row has.
constexpr std::int64_t kWholeRows = 100000;

/// Both levels', and the merge's, which a plan of one partial a row does not launch.
std::vector<VariantSpec> modules(const Case& c) {
  const PagedDecodeChoice choice = paged_decode_choice(c);
  std::vector<VariantSpec> all = {paged_decode_cascade_variant(choice)};
  VariantSpec prefixes = paged_decode_cascade_variant(paged_decode_cascade_prefix_choice(choice));
  if (prefixes != all.front()) all.push_back(std::move(prefixes));
  all.push_back(split_kv_merge_variant(Dtype::f32, c.dtype("out"), c.constant("d")));
  return all;
}

/// The merge's too, of f32 partials.
std::vector<LaunchVariant> variants() {
  std::vector<LaunchVariant> all =
      paged_decode_variants("paged_decode_cascade", paged_decode_cascade_variant);
  for (LaunchVariant& merge : split_kv_merge_variants())
    if (merge.asked.dtypes.front().second == Dtype::f32) all.push_back(std::move(merge));
  return all;
}

std::string launch(Runtime& runtime, const Case& c, const DeviceTensors& buffers) {
  PagedDecodeCascadeArgs args{.decode = paged_decode_args(c, buffers),
                              .group_indptr = buffers.at("group_indptr"),
                              .prefix_indptr = buffers.at("prefix_indptr"),
                              .prefix_indices = buffers.at("prefix_indices")};
  check_paged_decode_cascade_args(args);
  const PagedDecodeCascadePlan plan(runtime, args, read_cascade_table(runtime.backend(), args),
                                    c.constant("ppc"));
  args.decode.checked = false;  // The plan has validated what was read.
  std::string resolved =
      launch_as_asked(runtime, c, [&] { return paged_decode_cascade(runtime, args, plan); });
  runtime.backend().synchronize();  // The plan's arrays are in use until then.
  return resolved;
}

}  // namespace

KernelSpec paged_decode_cascade_spec() {
  KernelSpec spec = paged_decode_spec(
      "paged_decode_cascade",
      {{"d=64,hq=4,hkv=2,page=8,ppc=2", "shared", {"q=f32,k=f16,v=bf16", "q=f32,k=f32,v=bf16"}}});
  spec.operation = "paged_decode_cascade";
  for (ConstantAxis& axis : spec.constants)
    if (axis.name == "window") axis.values = {0};
  spec.constants.push_back({.name = "ppc",
                            .values = {1, 2, 7, 64, kWholeRows, kAutoPagesPerChunk},
                            .schedule = true,
                            .words = {"auto"}});
  spec.recipes = paged_decode_cascade_recipes();
  spec.uncombined_recipes = {"prompt"};
  spec.requirements.push_back({{"window"},
                               "window must be 0: a prefix is attended whole",
                               [](const Case& c) { return c.constant("window") == 0; }});
  spec.inputs = paged_decode_cascade_inputs;
  spec.input_types = paged_decode_cascade_input_types;
  spec.reference = paged_decode_cascade_expectation;
  spec.published = {
      "paged_decode_cascade/q=bf16,k=bf16,v=bf16/d=128,hq=32,hkv=8,page=16,ppc=auto/prompt",
      "paged_decode_cascade/q=f16,k=e4m3,v=e4m3/d=128,hq=8,hkv=8,page=64,ppc=16/prompt"};
  spec.modules = modules;
  spec.launch = launch;
  spec.variants = variants;
  return spec;
}

}  // namespace parity
