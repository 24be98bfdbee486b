// Builds, changes and runs merge problems for tests.
#include "tests/split_kv_merge_run.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "datasets/fill.hpp"
#include "harness/kernels/attention_bounds.hpp"
#include "harness/kernels/split_kv_merge_inputs.hpp"
#include "reference/split_kv_merge.hpp"
#include "tests/tensor_values.hpp"
#include "tests/test_home.hpp"

namespace parity {
namespace {

/// "v=f32,out=bf16/d=64,h=3/ragged"
Case merge_case(const std::string& id) {
  return parse_case(registry(), "split_kv_merge/" + id);
}

}  // namespace

MergeProblem::MergeProblem(const std::string& id) : out(merge_case(id).dtype("out")) {
  TensorList inputs = split_kv_merge_inputs(merge_case(id));
  v = find(inputs, "v");
  lse = find(inputs, "lse");
  o_indptr = find(inputs, "o_indptr");
}

MergeProblem::MergeProblem(Tensor v_, Tensor lse_)
    : v(std::move(v_)), lse(std::move(lse_)), out(Dtype::f32) {
  set_rows({0, static_cast<int>(v.shape()[0])});
}

MergeProblem MergeProblem::one_row(const std::vector<double>& values) {
  Tensor v(Dtype::f32, {std::ssize(values), 1, 8});
  fill_normal(v, 1, "v");
  Tensor lse(Dtype::f32, {std::ssize(values), 1});
  for (std::int64_t i = 0; i < lse.elements(); ++i) lse.set(i, values[static_cast<std::size_t>(i)]);
  return {std::move(v), std::move(lse)};
}

MergeProblem MergeProblem::from(const Merged& merged) {
  return {merged.out, merged.lse};
}

void MergeProblem::set_rows(const std::vector<std::int64_t>& indptr) {
  o_indptr = integer_tensor(indptr);
}

ReferenceResult MergeProblem::expectation() const {
  const SplitKvMergeReference reference = split_kv_merge({v, lse, o_indptr});
  const AttentionAnswer answer{reference.out,      reference.lse,     reference.abs_mass,
                               reference.rms_mass, reference.max_lse, reference.partials};
  ReferenceResult result;
  result.outputs.resize(2);
  result.outputs[0].name = "out";
  result.outputs[0].type = {out, reference.out.shape()};
  result.outputs[1].name = "lse_out";
  result.outputs[1].type = {Dtype::f32, reference.lse.shape()};
  result.outputs[1].rule = OutputRule::log_sum_exp;
  expect_out(answer, result.outputs[0]);
  expect_log_sum_exp(answer, result.outputs[1]);
  result.refused = cancellation(answer);
  return result;
}

MergeRun::MergeRun()
    : runtime_(make_runtime(test::test_backend(), test::test_home() / "modules")),
      arena_(std::make_unique<Arena>(runtime_->backend())) {}

SplitKvMergeArgs MergeRun::place(const MergeProblem& problem, Poison poison) {
  const std::int64_t rows = problem.o_indptr.elements() - 1;
  const Shape& v = problem.v.shape();
  buffers_ = {{"v", problem.v.type(), problem.v.bytes()},
              {"lse", problem.lse.type(), problem.lse.bytes()},
              {"o_indptr", problem.o_indptr.type(), problem.o_indptr.bytes()},
              {"out", {problem.out, {rows, v[1], v[2]}}, {}},
              {"lse_out", {Dtype::f32, {rows, v[1]}}, {}}};
  const DeviceTensors placed = arena_->begin(buffers_, poison);
  return {.v = placed.at("v"),
          .lse = placed.at("lse"),
          .o_indptr = placed.at("o_indptr"),
          .out = placed.at("out"),
          .lse_out = placed.at("lse_out"),
          .checked = true};
}

Merged MergeRun::merge(const MergeProblem& problem) {
  Merged result = merge_amid(Poison::ones, problem);
  const Merged again = merge_amid(Poison::high, problem);
  EXPECT_EQ(again.out, result.out);
  EXPECT_EQ(again.lse, result.lse);
  return result;
}

Merged MergeRun::merge_into_nan(const MergeProblem& problem) {
  const SplitKvMergeArgs args = place(problem);
  for (const DeviceTensor& output : {args.out, args.lse_out})
    runtime_->backend().fill(output.data, std::byte{0xff}, output.type.bytes());
  split_kv_merge(*runtime_, args);
  runtime_->backend().synchronize();
  const ArenaReport report = arena_->inspect();
  return {find(report.outputs, "out"), find(report.outputs, "lse_out")};
}

Merged MergeRun::merge_amid(Poison poison, const MergeProblem& problem) {
  split_kv_merge(*runtime_, place(problem, poison));
  runtime_->backend().synchronize();
  const ArenaReport report = arena_->inspect();
  EXPECT_EQ(report.unwritten, 0);
  EXPECT_EQ(report.broken_guards, std::vector<std::string>{});
  EXPECT_EQ(report.changed_inputs, std::vector<std::string>{});
  return {find(report.outputs, "out"), find(report.outputs, "lse_out")};
}

}  // namespace parity
