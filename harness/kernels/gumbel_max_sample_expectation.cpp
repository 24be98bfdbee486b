// What f32 arithmetic cannot tell apart is not asked for; nine rows in ten must be.
#include "harness/kernels/gumbel_max_sample_expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "harness/kernels/sampler_case.hpp"

namespace parity {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastChecked = 0.9;
/// Wrong answers are computed for as many rows as fit, and right in the others: what tells them
/// from the right answer in these does so in all.
constexpr std::int64_t kMostWrongElements = 1 << 22;

GumbelMaxProblem problem_of(const TensorList& inputs) {
  return {find(inputs, "logits"), find(inputs, "temperature"), find(inputs, "seed"),
          find(inputs, "step")};
}

bool is_checked(const GumbelMaxRow& row) {
  return row.rivals.empty();
}

void expect(const std::vector<GumbelMaxRow>& rows, PackOutput& token, PackOutput& ok) {
  for (PackOutput* const output : {&token, &ok}) {
    output->expected = Tensor(Dtype::f64, output->type.shape);
    output->bound = Tensor(Dtype::f64, output->type.shape);
  }
  for (std::int64_t i = 0; i < std::ssize(rows); ++i) {
    const GumbelMaxRow& row = rows[static_cast<std::size_t>(i)];
    const auto chosen = static_cast<double>(row.token);
    token.expected->set(i, chosen);
    token.bound->set(i, is_checked(row)          ? chosen
                        : row.rivals.size() == 1 ? static_cast<double>(row.rivals.front())
                                                 : kNan);
    ok.expected->set(i, row.token >= 0 ? 1 : 0);
    ok.bound->set(i, row.token >= 0 ? 1 : 0);
  }
}

/// The answers of plausible faults, each by its tokens alone.
class WrongAnswers {
 public:
  WrongAnswers(const Case& c, const TensorList& inputs, const std::vector<GumbelMaxRow>& right,
               ReferenceResult& result)
      : c_(c), inputs_(inputs), right_(right), result_(result) {}

  void add_all() {
    const std::int64_t v = c_.constant("v");
    const std::int64_t b = c_.constant("b");
    add("all_refused", [](const GumbelMaxRow&) { return -1; });
    if (v >= 2)
      add("index_off_by_one",
          [v](const GumbelMaxRow& row) { return row.token < 0 ? -1 : (row.token + 1) % v; });
    if (c_.recipe == "edges" && v >= 2 && b >= 2) add("nan_skipped", {.skips_nan = true});
    // Elsewhere such a fault gives the right answer by chance, at times in every row.
    const bool many = b >= 64 && v >= 256;
    if ((c_.recipe == "flat" && v >= 4096) || (c_.recipe != "edges" && many)) {
      add("noise_dropped", {.draws = false});
      add("next_step", {.step_offset = 1});
    }
    if ((c_.recipe == "plain" || c_.recipe == "duel") && many)
      add("temperature_ignored", {.divides = false});  // also where it is applied after the noise
    if (c_.recipe == "duel" && c_.dtype("logits") != Dtype::f32)
      add("noise_in_logits_dtype", {.noise_dtype = c_.dtype("logits")});
  }

 private:
  void add(std::string name, const GumbelMaxRule& rule) {
    const GumbelMaxProblem problem = problem_of(inputs_);
    const std::int64_t rows =
        std::max<std::int64_t>(1, kMostWrongElements / problem.logits.shape()[1]);
    Tensor token(Dtype::f64, {std::ssize(right_)});
    for (std::int64_t i = 0; i < token.elements(); ++i)
      token.set(i, static_cast<double>(i < rows ? gumbel_max_sample_row(problem, i, rule).token
                                                : right_[static_cast<std::size_t>(i)].token));
    result_.wrong_answers.push_back({std::move(name), {{"token", std::move(token)}}});
  }

  template <class Change>
  requires std::invocable<Change, const GumbelMaxRow&>
  void add(std::string name, Change change) {
    Tensor token(Dtype::f64, {std::ssize(right_)});
    for (std::int64_t i = 0; i < token.elements(); ++i)
      token.set(i, static_cast<double>(change(right_[static_cast<std::size_t>(i)])));
    result_.wrong_answers.push_back({std::move(name), {{"token", std::move(token)}}});
  }

  const Case& c_;
  const TensorList& inputs_;
  const std::vector<GumbelMaxRow>& right_;
  ReferenceResult& result_;
};

}  // namespace

std::vector<PackOutput> gumbel_max_sample_outputs(const Case& c) {
  return {exact_output("token", Dtype::i32, c.constant("b")),
          exact_output("ok", Dtype::u8, c.constant("b"))};
}

std::vector<GumbelMaxRow> gumbel_max_sample_rows(const TensorList& inputs,
                                                 const GumbelMaxRule& rule) {
  const GumbelMaxProblem problem = problem_of(inputs);
  std::vector<GumbelMaxRow> rows;
  for (std::int64_t i = 0; i < problem.logits.shape()[0]; ++i)
    rows.push_back(gumbel_max_sample_row(problem, i, rule));
  return rows;
}

ReferenceResult gumbel_max_sample_expectation(const Case& c, const TensorList& inputs) {
  ReferenceResult result;
  result.outputs = gumbel_max_sample_outputs(c);
  const std::vector<GumbelMaxRow> rows = gumbel_max_sample_rows(inputs);
  expect(rows, result.outputs[0], result.outputs[1]);
  WrongAnswers(c, inputs, rows, result).add_all();
  const auto checked = std::ranges::count_if(rows, is_checked);
  if (static_cast<double>(checked) < kLeastChecked * static_cast<double>(rows.size()))
    result.refused = fmt::format(
        "only {} of its {} rows have a best score that f32 arithmetic can tell from the next, "
        "where {:g} % are needed",
        checked, rows.size(), 100 * kLeastChecked);
  return result;
}

}  // namespace parity
