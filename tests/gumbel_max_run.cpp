// Lays rows out in an arena, samples and inspects.
#include "tests/gumbel_max_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/kernels/gumbel_max_sample_inputs.hpp"
#include "tests/tensor_values.hpp"
#include "tests/test_home.hpp"

namespace parity {
GumbelProblem::GumbelProblem(const std::string& id) {
  TensorList inputs = gumbel_max_sample_inputs(parse_case(registry(), "gumbel_max_sample/" + id));
  logits = find(inputs, "logits");
  temperature = find(inputs, "temperature");
  seed = find(inputs, "seed");
  step = find(inputs, "step");
}

GumbelProblem::GumbelProblem(Dtype dtype, std::int64_t rows, std::int64_t vocabulary)
    : logits(dtype, {rows, vocabulary}),
      temperature(Dtype::f32, {rows}),
      seed(Dtype::u64, {rows}),
      step(Dtype::u64, {rows}) {
  for (std::int64_t row = 0; row < rows; ++row) {
    temperature.set(row, 1);
    set_seed(row, 1);
    set_step(row, static_cast<std::uint64_t>(row));
  }
}

void GumbelProblem::set(std::int64_t row, std::int64_t token, double logit) {
  logits.set(row * vocabulary() + token, logit);
}

void GumbelProblem::set_step(std::int64_t row, std::uint64_t value) {
  step.set_bits(row, value);
}

void GumbelProblem::set_seed(std::int64_t row, std::uint64_t value) {
  seed.set_bits(row, value);
}

GumbelProblem GumbelProblem::reordered(const std::vector<std::int64_t>& order) const {
  GumbelProblem result = *this;
  result.logits = rows_of(logits, order);
  result.temperature = rows_of(temperature, order);
  result.seed = rows_of(seed, order);
  result.step = rows_of(step, order);
  return result;
}

GumbelMaxRow GumbelProblem::expected(std::int64_t row) const {
  return gumbel_max_sample_row({logits, temperature, seed, step}, row);
}

GumbelRun::GumbelRun(const Faults& faults)
    : runtime_(make_runtime(test::test_backend(), test::test_home() / "modules", faults)),
      arena_(std::make_unique<Arena>(runtime_->backend())) {}

GumbelMaxSampleArgs GumbelRun::place(const GumbelProblem& problem, Poison poison) {
  const Shape rows = {problem.rows()};
  buffers_ = {{"logits", problem.logits.type(), problem.logits.bytes()},
              {"temperature", problem.temperature.type(), problem.temperature.bytes()},
              {"seed", problem.seed.type(), problem.seed.bytes()},
              {"step", problem.step.type(), problem.step.bytes()},
              {"token", {Dtype::i32, rows}, {}},
              {"ok", {Dtype::u8, rows}, {}}};
  const DeviceTensors placed = arena_->begin(buffers_, poison);
  return {.logits = placed.at("logits"),
          .temperature = placed.at("temperature"),
          .seed = placed.at("seed"),
          .step = placed.at("step"),
          .token = placed.at("token"),
          .ok = placed.at("ok")};
}

Sampled GumbelRun::sample(const GumbelProblem& problem, std::int64_t splits, Poison poison) {
  GumbelMaxSampleArgs args = place(problem, poison);
  args.splits = splits;
  gumbel_max_sample(*runtime_, args);
  runtime_->backend().synchronize();
  const ArenaReport report = arena_->inspect();
  EXPECT_EQ(report.unwritten, 0);
  EXPECT_EQ(report.broken_guards, std::vector<std::string>{});
  EXPECT_EQ(report.changed_inputs, std::vector<std::string>{});
  return {integers_of(find(report.outputs, "token")), integers_of(find(report.outputs, "ok"))};
}

Checked expect_sampled(const GumbelProblem& problem, const Sampled& got) {
  Checked checked;
  for (std::int64_t row = 0; row < problem.rows(); ++row) {
    const GumbelMaxRow want = problem.expected(row);
    const std::int64_t token = got.token[static_cast<std::size_t>(row)];
    EXPECT_TRUE(token == want.token || std::ranges::count(want.rivals, token) == 1)
        << "row " << row << ": got " << token << ", want " << want.token;
    EXPECT_EQ(got.ok[static_cast<std::size_t>(row)], want.token >= 0 ? 1 : 0) << "row " << row;
    if (!want.rivals.empty()) continue;
    ++checked.rows;
    checked.closest = std::min(checked.closest, want.gap);
  }
  return checked;
}

}  // namespace parity
