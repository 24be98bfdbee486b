// Lays cases out in an arena, launches and inspects.
#include "tests/kernel_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "datasets/errors.hpp"
#include "harness/judge.hpp"
#include "tests/test_home.hpp"

namespace parity {

KernelCase::KernelCase(const std::string& id)
    : c(parse_case(registry(), id)), inputs(c.spec->inputs(c)) {}

KernelRun::KernelRun(Faults faults)
    : runtime_(make_runtime(test::test_backend(), test::test_home() / "modules", faults)),
      arena_(std::make_unique<Arena>(runtime_->backend())) {}

DeviceTensors KernelRun::place(const KernelCase& problem, Poison poison) {
  buffers_.clear();
  for (const NamedTensor& input : problem.inputs)
    buffers_.push_back({input.name, input.tensor.type(), input.tensor.bytes()});
  const Shape& q = find(problem.inputs, "q").shape();
  buffers_.push_back({"out", {problem.c.dtype("out"), q}, {}});
  buffers_.push_back({"lse", {Dtype::f32, {q[0], q[1]}}, {}});
  return arena_->begin(buffers_, poison);
}

TensorList KernelRun::run(const KernelCase& problem) {
  return run(problem, [&](Runtime& runtime, const DeviceTensors& buffers) {
    problem.c.spec->launch(runtime, problem.c, buffers);
  });
}

TensorList KernelRun::run(const KernelCase& problem,
                          const std::function<void(Runtime&, const DeviceTensors&)>& launch) {
  std::vector<TensorList> results;
  for (const Poison poison : {Poison::ones, Poison::high}) {
    launch(*runtime_, place(problem, poison));
    runtime_->backend().synchronize();
    ArenaReport report = arena_->inspect();
    EXPECT_EQ(report.unwritten, 0);
    EXPECT_EQ(report.broken_guards, std::vector<std::string>{});
    EXPECT_EQ(report.changed_inputs, std::vector<std::string>{});
    results.push_back(std::move(report.outputs));
  }
  for (const char* output : {"out", "lse"})
    EXPECT_EQ(find(results[0], output), find(results[1], output)) << problem.c.id();
  return std::move(results[0]);
}

void expect_right(const KernelCase& problem, const TensorList& outputs) {
  const ReferenceResult want = problem.c.spec->reference(problem.c, problem.inputs);
  EXPECT_EQ(want.refused, "") << problem.c.id();
  for (const PackOutput& output : want.outputs) {
    const Judgement judgement = judge_output(output, find(outputs, output.name));
    EXPECT_NE(judgement.verdict, Verdict::failed) << problem.c.id() << ": " << judgement.detail;
    EXPECT_LE(judgement.error, judgement.tolerance) << problem.c.id();
  }
}

void expect_right(KernelRun& run, const std::string& id) {
  const KernelCase problem(id);
  expect_right(problem, run.run(problem));
}

std::vector<std::byte> row_bytes(const Tensor& tensor, std::int64_t row) {
  const std::size_t bytes = tensor.bytes().size() / static_cast<std::size_t>(tensor.shape()[0]);
  const auto part = tensor.bytes().subspan(static_cast<std::size_t>(row) * bytes, bytes);
  return {part.begin(), part.end()};
}

Tensor one_row(const Tensor& tensor, std::int64_t row) {
  Shape shape = tensor.shape();
  shape[0] = 1;
  Tensor result(tensor.dtype(), shape);
  std::ranges::copy(row_bytes(tensor, row), result.bytes().begin());
  return result;
}

std::set<std::string> wrong_answers_of(const std::string& id) {
  const KernelCase problem(id);
  std::set<std::string> names;
  for (const auto& [name, answer] :
       problem.c.spec->reference(problem.c, problem.inputs).wrong_answers)
    names.insert(name);
  return names;
}

}  // namespace parity
