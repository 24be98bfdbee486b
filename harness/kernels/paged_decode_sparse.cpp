// The one description of paged_decode_sparse: paged decode's axes but for page and window.
#include "device/paged_decode_sparse.hpp"

#include <algorithm>

#include "harness/kernels/paged_decode_cases.hpp"
#include "harness/kernels/paged_decode_sparse_expectation.hpp"
#include "harness/kernels/paged_decode_sparse_inputs.hpp"

namespace parity {
namespace {

constexpr std::int64_t kLargestSoftcap = 20;

/// One page size and no window: ids name neither.
void narrow(std::vector<ConstantAxis>& constants) {
  for (ConstantAxis& axis : constants) {
    if (axis.name == "page") {
      axis.values = {1};
      axis.usual = 1;
    }
    if (axis.name == "window") axis.values = {0};
    if (axis.name == "softcap") axis.values = {0, 5};
  }
}

void require(std::vector<Requirement>& requirements) {
  requirements.push_back({{"page"},
                          "page must be 1: what is selected are slots",
                          [](const Case& c) { return c.constant("page") == 1; }});
  requirements.push_back({{"window"},
                          "window must be 0: selected slots have no order",
                          [](const Case& c) { return c.constant("window") == 0; }});
  requirements.push_back({{"softcap"},
                          "softcap above 20 hardly moves the scores of short lists",
                          [](const Case& c) { return c.constant("softcap") <= kLargestSoftcap; }});
}

std::vector<VariantSpec> modules(const Case& c) {
  return {paged_decode_sparse_variant(paged_decode_choice(c))};
}

std::string launch(Runtime& runtime, const Case& c, const DeviceTensors& buffers) {
  PagedDecodeArgs args = paged_decode_args_without_table(c, buffers);
  args.table.indptr = buffers.at("page_indptr");
  args.table.indices = buffers.at("page_indices");
  return launch_as_asked(runtime, c, [&] { return paged_decode_sparse(runtime, args); });
}

}  // namespace

KernelSpec paged_decode_sparse_spec() {
  KernelSpec spec = paged_decode_spec(
      "paged_decode_sparse", {{"d=64,hq=8,hkv=2",
                               "ragged",
                               {"q=f16,out=f32,k=f16,v=bf16", "q=f16,out=f32,k=f16,v=e4m3"}}});
  spec.operation = "paged_decode_sparse";
  narrow(spec.constants);
  require(spec.requirements);
  spec.inputs = paged_decode_sparse_inputs;
  spec.input_types = paged_decode_sparse_input_types;
  spec.reference = paged_decode_sparse_expectation;
  spec.published = {"paged_decode_sparse/q=bf16,k=bf16,v=bf16/d=128,hq=32,hkv=8/context",
                    "paged_decode_sparse/q=bf16,k=e4m3,v=e4m3/d=128,hq=28,hkv=4/context"};
  spec.modules = modules;
  spec.launch = launch;
  spec.variants = [] {
    return paged_decode_variants("paged_decode_sparse", paged_decode_sparse_variant);
  };
  return spec;
}

}  // namespace parity
