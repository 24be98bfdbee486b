// The one description of rejection_sample: its axes, its cases, and how it is launched.
#include "device/rejection_sample.hpp"

#include "harness/kernel_spec.hpp"
#include "harness/kernels/launch_variant.hpp"
#include "harness/kernels/rejection_sample_expectation.hpp"
#include "harness/kernels/rejection_sample_inputs.hpp"
#include "harness/kernels/sampler_case.hpp"

namespace parity {
namespace {

/// Each pair differs in one dtype alone: a model that samples as another of its vocabulary does.
std::vector<std::string> smoke() {
  std::vector<std::string> ids;
  for (const char* shape :
       {"probs=f16,filter=bf16/v=513,b=64,draw=none,order=joint,splits=1/ordinary",
        "probs=f32,filter=bf16/v=513,b=64,draw=none,order=joint,splits=1/ordinary",
        "probs=bf16,filter=f32/v=515,b=64,draw=probs,order=top_k_first,splits=1/ordinary",
        "probs=f16,filter=f32/v=515,b=64,draw=probs,order=top_k_first,splits=1/ordinary",
        "probs=f32,filter=f32/v=4097,b=8,draw=probs,order=top_k_first,splits=3/invalid",
        "probs=bf16,filter=f32/v=4097,b=8,draw=probs,order=top_k_first,splits=3/invalid"})
    ids.push_back(std::string("rejection_sample/") + shape);
  return ids;
}

/// What real models have, at batches of one and of many.
std::vector<std::string> published() {
  std::vector<std::string> ids;
  for (const char* shape :
       {"probs=f32,filter=f32/v=128256,b=1,draw=none,order=joint,splits=auto/ordinary",
        "probs=f32,filter=f32/v=128256,b=1,draw=probs,order=top_k_first,splits=auto/ordinary",
        "probs=f32,filter=f32/v=128256,b=128,draw=none,order=joint,splits=auto/ordinary",
        "probs=bf16,filter=f32/v=151936,b=64,draw=probs,order=joint,splits=auto/ordinary",
        "probs=f32,filter=f32/v=262144,b=64,draw=none,order=top_k_first,splits=auto/ordinary",
        "probs=f16,filter=f16/v=256000,b=3,draw=probs,order=top_k_first,splits=64/extremes",
        "probs=f32,filter=f32/v=4096,b=989,draw=none,order=top_k_first,splits=auto/extremes",
        "probs=bf16,filter=f32/v=131072,b=2,draw=none,order=joint,splits=auto/flat"})
    ids.push_back(std::string("rejection_sample/") + shape);
  return ids;
}

VariantSpec variant_of(const Case& c) {
  return rejection_sample_variant(c.dtype("probs"), c.dtype("filter"),
                                  c.constant("draw") == kDrawGiven);
}

std::vector<LaunchVariant> variants() {
  constexpr Dtype kAny = Dtype::f32;
  const auto probs =
      accepted(all_dtypes(), [](Dtype dtype) { rejection_sample_variant(dtype, kAny, false); });
  const auto filters =
      accepted(all_dtypes(), [](Dtype dtype) { rejection_sample_variant(kAny, dtype, false); });
  std::vector<LaunchVariant> all;
  for (const Dtype p : probs)
    for (const Dtype filter : filters)
      for (const bool draw : {false, true})
        all.push_back(
            {.asked = {"rejection_sample", {{"DRAW", draw}}, {{"probs", p}, {"filter", filter}}},
             .spec = rejection_sample_variant(p, filter, draw)});
  return all;
}

std::string launch(Runtime& runtime, const Case& c, const DeviceTensors& buffers) {
  RejectionSampleArgs args{.probs = buffers.at("probs"),
                           .draw = {},
                           .top_k = buffers.at("top_k"),
                           .top_p = buffers.at("top_p"),
                           .min_p = buffers.at("min_p"),
                           .seed = buffers.at("seed"),
                           .step = buffers.at("step"),
                           .token = buffers.at("token"),
                           .ok = buffers.at("ok"),
                           .rounds = buffers.at("rounds"),
                           .splits = c.constant("splits")};
  if (c.constant("draw") == kDrawGiven) args.draw = buffers.at("draw");
  if (c.constant("order") == kTopKFirst) args.order = FilterOrder::top_k_first;
  return rejection_sample(runtime, args);
}

}  // namespace

KernelSpec rejection_sample_spec() {
  const std::vector<Dtype> floats = {Dtype::f32, Dtype::f16, Dtype::bf16};
  return {.name = "rejection_sample",
          .operation = "rejection_sample",
          .dtypes = {{"probs", floats}, {"filter", floats}},
          .constants =
              {vocabulary_axis(),
               batch_axis(),
               {.name = "draw", .values = {kDrawByProbs, kDrawGiven}, .words = {"none", "probs"}},
               {.name = "order", .values = {kJoint, kTopKFirst}, .words = {"joint", "top_k_first"}},
               splits_axis()},
          .recipes = rejection_sample_recipes(),
          .degenerate_recipes = rejection_sample_degenerate_recipes(),
          .smoke = smoke(),
          .published = published(),
          .requirements = rejection_sample_requirements(),
          .inputs = rejection_sample_inputs,
          .input_types = rejection_sample_input_types,
          .outputs = rejection_sample_outputs,
          .reference = rejection_sample_expectation,
          .modules = [](const Case& c) { return std::vector<VariantSpec>{variant_of(c)}; },
          .launch = launch,
          .entry_point = "parity::rejection_sample",
          .variants = variants};
}

}  // namespace parity
