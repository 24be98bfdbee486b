// Builds, changes and runs rows to sample by rejection.
#include "tests/rejection_sample_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/case.hpp"
#include "harness/kernels/rejection_sample_inputs.hpp"
#include "reference/rejection_sample.hpp"
#include "tests/tensor_values.hpp"
#include "tests/test_home.hpp"

namespace parity {
namespace {

void set_all(Tensor& tensor, double value) {
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, value);
}

void repeat(Tensor& tensor, const std::vector<double>& values) {
  const std::int64_t count = std::ssize(values);
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    tensor.set(i, values[static_cast<std::size_t>(i % count)]);
}

}  // namespace

RejectionProblem::RejectionProblem(const std::string& id) {
  const Case c = parse_case(registry(), "rejection_sample/" + id);
  const TensorList inputs = rejection_sample_inputs(c);
  probs = find(inputs, "probs");
  top_k = find(inputs, "top_k");
  top_p = find(inputs, "top_p");
  min_p = find(inputs, "min_p");
  seed = find(inputs, "seed");
  step = find(inputs, "step");
  if (c.constant("draw") == kDrawGiven) draw = find(inputs, "draw");
  if (c.constant("order") == kTopKFirst) order = FilterOrder::top_k_first;
}

RejectionProblem::RejectionProblem(Dtype dtype, std::int64_t rows,
                                   const std::vector<double>& values, Dtype filter)
    : probs(dtype, {rows, std::ssize(values)}),
      top_k(Dtype::i32, {rows}),
      top_p(filter, {rows}),
      min_p(filter, {rows}),
      seed(Dtype::u64, {rows}),
      step(Dtype::u64, {rows}) {
  repeat(probs, values);
  filter_by(0, 1, 0);
  for (std::int64_t row = 0; row < rows; ++row) {
    seed.set_bits(row, 1);
    set_step(row, static_cast<std::uint64_t>(row));
  }
}

void RejectionProblem::filter_by(double k, double p, double m) {
  set_all(top_k, k);
  set_all(top_p, p);
  set_all(min_p, m);
}

void RejectionProblem::draw_by(const std::vector<double>& values) {
  draw = Tensor(probs.type());
  repeat(*draw, values);
}

void RejectionProblem::set_step(std::int64_t row, std::uint64_t value) {
  step.set_bits(row, value);
}

RejectionProblem RejectionProblem::reordered(const std::vector<std::int64_t>& rows) const {
  RejectionProblem result = *this;
  for (Tensor* tensor :
       {&result.probs, &result.top_k, &result.top_p, &result.min_p, &result.seed, &result.step})
    *tensor = rows_of(*tensor, rows);
  if (draw) result.draw = rows_of(*draw, rows);
  return result;
}

Drawn RejectionProblem::expected() const {
  const RejectionSampleReference answer =
      rejection_sample({.probs = probs,
                        .draw = draw ? *draw : probs,
                        .top_k = top_k,
                        .top_p = top_p,
                        .min_p = min_p,
                        .seed = seed,
                        .step = step,
                        .top_k_first = order == FilterOrder::top_k_first});
  return {answer.token, answer.ok, answer.rounds};
}

RejectionRun::RejectionRun(const Faults& faults)
    : runtime_(make_runtime(test::test_backend(), test::test_home() / "modules", faults)),
      arena_(std::make_unique<Arena>(runtime_->backend())) {}

RejectionSampleArgs RejectionRun::place(const RejectionProblem& problem, Poison poison) {
  const Shape rows = {problem.rows()};
  buffers_ = {{"probs", problem.probs.type(), problem.probs.bytes()},
              {"top_k", problem.top_k.type(), problem.top_k.bytes()},
              {"top_p", problem.top_p.type(), problem.top_p.bytes()},
              {"min_p", problem.min_p.type(), problem.min_p.bytes()},
              {"seed", problem.seed.type(), problem.seed.bytes()},
              {"step", problem.step.type(), problem.step.bytes()},
              {"token", {Dtype::i32, rows}, {}},
              {"ok", {Dtype::u8, rows}, {}},
              {"rounds", {Dtype::i32, rows}, {}}};
  if (problem.draw) buffers_.push_back({"draw", problem.draw->type(), problem.draw->bytes()});
  const DeviceTensors placed = arena_->begin(buffers_, poison);
  RejectionSampleArgs args{.probs = placed.at("probs"),
                           .draw = {},
                           .top_k = placed.at("top_k"),
                           .top_p = placed.at("top_p"),
                           .min_p = placed.at("min_p"),
                           .seed = placed.at("seed"),
                           .step = placed.at("step"),
                           .token = placed.at("token"),
                           .ok = placed.at("ok"),
                           .rounds = placed.at("rounds"),
                           .order = problem.order};
  if (problem.draw) args.draw = placed.at("draw");
  return args;
}

Drawn RejectionRun::sample(const RejectionProblem& problem, std::int64_t splits, Poison poison) {
  RejectionSampleArgs args = place(problem, poison);
  args.splits = splits;
  rejection_sample(*runtime_, args);
  return read();
}

Drawn RejectionRun::read() {
  runtime_->backend().synchronize();
  const ArenaReport report = arena_->inspect();
  EXPECT_EQ(report.unwritten, 0);
  EXPECT_EQ(report.broken_guards, std::vector<std::string>{});
  EXPECT_EQ(report.changed_inputs, std::vector<std::string>{});
  return {integers_of(find(report.outputs, "token")), integers_of(find(report.outputs, "ok")),
          integers_of(find(report.outputs, "rounds"))};
}

}  // namespace parity
