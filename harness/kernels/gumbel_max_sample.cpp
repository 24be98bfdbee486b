// The one description of gumbel_max_sample: its axes, its cases, and how it is launched.
#include "device/gumbel_max_sample.hpp"

#include "harness/kernel_spec.hpp"
#include "harness/kernels/gumbel_max_sample_expectation.hpp"
#include "harness/kernels/gumbel_max_sample_inputs.hpp"
#include "harness/kernels/launch_variant.hpp"
#include "harness/kernels/sampler_case.hpp"

namespace parity {
namespace {

/// Each pair differs in its dtype alone: a model that samples as another of its vocabulary does.
std::vector<std::string> smoke() {
  return {"gumbel_max_sample/logits=bf16/v=256,b=64,splits=1/duel",
          "gumbel_max_sample/logits=f16/v=256,b=64,splits=1/duel",
          "gumbel_max_sample/logits=f32/v=4097,b=3,splits=auto/plain",
          "gumbel_max_sample/logits=f16/v=4097,b=3,splits=auto/plain",
          "gumbel_max_sample/logits=bf16/v=4096,b=12,splits=3/edges",
          "gumbel_max_sample/logits=f32/v=4096,b=12,splits=3/edges"};
}

/// What real models have, at batches of one and of many.
std::vector<std::string> published() {
  std::vector<std::string> ids;
  for (const char* shape :
       {"logits=f32/v=128256,b=1,splits=auto/plain", "logits=bf16/v=128256,b=64,splits=auto/plain",
        "logits=f32/v=151936,b=128,splits=auto/plain", "logits=f16/v=32000,b=989,splits=auto/duel",
        "logits=bf16/v=262144,b=64,splits=auto/duel", "logits=f32/v=262144,b=64,splits=64/duel",
        "logits=bf16/v=152064,b=2,splits=auto/flat"})
    ids.push_back(std::string("gumbel_max_sample/") + shape);
  return ids;
}

/// The second is launched where rows are split.
std::vector<VariantSpec> modules(const Case& c) {
  return {gumbel_max_sample_variant(c.dtype("logits")), gumbel_max_combine_variant()};
}

std::vector<LaunchVariant> variants() {
  std::vector<LaunchVariant> all;
  for (const Dtype logits :
       accepted(all_dtypes(), [](Dtype dtype) { gumbel_max_sample_variant(dtype); }))
    all.push_back({.asked = {"gumbel_max_sample", {}, {{"logits", logits}}},
                   .spec = gumbel_max_sample_variant(logits)});
  all.push_back({.asked = {"gumbel_max_combine", {}, {}}, .spec = gumbel_max_combine_variant()});
  return all;
}

std::string launch(Runtime& runtime, const Case& c, const DeviceTensors& buffers) {
  return gumbel_max_sample(runtime, {.logits = buffers.at("logits"),
                                     .temperature = buffers.at("temperature"),
                                     .seed = buffers.at("seed"),
                                     .step = buffers.at("step"),
                                     .token = buffers.at("token"),
                                     .ok = buffers.at("ok"),
                                     .splits = c.constant("splits")});
}

}  // namespace

KernelSpec gumbel_max_sample_spec() {
  return {.name = "gumbel_max_sample",
          .operation = "gumbel_max_sample",
          .dtypes = {{"logits", {Dtype::f32, Dtype::f16, Dtype::bf16}}},
          .constants = {vocabulary_axis(), batch_axis(), splits_axis()},
          .recipes = gumbel_max_sample_recipes(),
          .degenerate_recipes = {},
          .smoke = smoke(),
          .published = published(),
          .requirements = gumbel_max_sample_requirements(),
          .inputs = gumbel_max_sample_inputs,
          .input_types = gumbel_max_sample_input_types,
          .outputs = gumbel_max_sample_outputs,
          .reference = gumbel_max_sample_expectation,
          .modules = modules,
          .launch = launch,
          .entry_point = "parity::gumbel_max_sample",
          .variants = variants};
}

}  // namespace parity
