// Binds the split-KV merge reference to cases.
#include "harness/kernels/split_kv_merge_expectation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "harness/kernels/attention_bounds.hpp"
#include "harness/kernels/split_kv_merge_inputs.hpp"
#include "reference/split_kv_merge.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// With `lse` in place of the case's own.
SplitKvMergeReference run_reference(const TensorList& inputs, const Tensor& lse) {
  return split_kv_merge({.v = find(inputs, "v"), .lse = lse, .o_indptr = find(inputs, "o_indptr")});
}

/// Each row and head without its last partial that attended to anything.
SplitKvMergeReference last_partial_dropped(const TensorList& inputs) {
  Tensor lse = find(inputs, "lse");
  const Tensor& o_indptr = find(inputs, "o_indptr");
  const std::int64_t heads = lse.shape()[1];
  for (std::int64_t row = 0; row + 1 < o_indptr.elements(); ++row)
    for (std::int64_t head = 0; head < heads; ++head) {
      const auto begin = static_cast<std::int64_t>(o_indptr.at(row));
      auto i = static_cast<std::int64_t>(o_indptr.at(row + 1)) - 1;
      while (i >= begin && lse.at(i * heads + head) == -kInfinity) --i;
      if (i >= begin) lse.set(i * heads + head, -kInfinity);
    }
  return run_reference(inputs, lse);
}

/// Weights e^lse, and the logarithm of their sum to the base e.
SplitKvMergeReference merged_in_natural_base(const TensorList& inputs) {
  const Tensor& lse = find(inputs, "lse");
  Tensor natural(Dtype::f64, lse.shape());
  for (std::int64_t i = 0; i < lse.elements(); ++i) natural.set(i, lse.at(i) * std::numbers::log2e);
  SplitKvMergeReference result = run_reference(inputs, natural);
  for (std::int64_t i = 0; i < result.lse.elements(); ++i)
    result.lse.set(i, result.lse.at(i) / std::numbers::log2e);
  return result;
}

/// As two answers, so that neither output does the rejecting for the other.
void add_wrong_answer(const std::string& name, SplitKvMergeReference wrong,
                      ReferenceResult& result) {
  TensorList out;
  out.push_back({"out", std::move(wrong.out)});
  TensorList lse;
  lse.push_back({"lse_out", std::move(wrong.lse)});
  result.wrong_answers.emplace_back(name, std::move(out));
  result.wrong_answers.emplace_back(name + " in lse_out", std::move(lse));
}

}  // namespace

std::vector<PackOutput> split_kv_merge_outputs(const Case& c) {
  const std::int64_t rows = std::ssize(split_kv_merge_rows(c.recipe));
  PackOutput out{"out",
                 {c.dtype("out"), {rows, c.constant("h"), c.constant("d")}},
                 OutputRule::rows,
                 std::nullopt,
                 std::nullopt};
  PackOutput lse{"lse_out",
                 {Dtype::f32, {rows, c.constant("h")}},
                 OutputRule::log_sum_exp,
                 std::nullopt,
                 std::nullopt};
  return {std::move(out), std::move(lse)};
}

ReferenceResult split_kv_merge_expectation(const Case& c, const TensorList& inputs) {
  ReferenceResult result;
  result.outputs = split_kv_merge_outputs(c);
  const SplitKvMergeReference reference = run_reference(inputs, find(inputs, "lse"));
  const AttentionAnswer answer{reference.out,      reference.lse,     reference.abs_mass,
                               reference.rms_mass, reference.max_lse, reference.partials};
  expect_out(answer, result.outputs[0]);
  expect_log_sum_exp(answer, result.outputs[1]);
  add_wrong_answer("last_partial_dropped", last_partial_dropped(inputs), result);
  if (std::ranges::any_of(reference.partials, [](std::int64_t partials) { return partials > 1; }))
    add_wrong_answer("merged_in_natural_base", merged_in_natural_base(inputs), result);
  result.refused = cancellation(answer);
  return result;
}

}  // namespace parity
