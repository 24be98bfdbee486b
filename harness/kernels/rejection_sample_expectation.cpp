// Binds the rejection sampling reference to cases.
#include "harness/kernels/rejection_sample_expectation.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "harness/kernels/rejection_sample_inputs.hpp"
#include "harness/kernels/sampler_case.hpp"
#include "reference/rejection_sample.hpp"

namespace parity {
namespace {

/// Wrong answers are computed for this many rows, and right in the others: what tells them from the
/// right answer in these does so in all. In fewer, most faults can give the right answer by chance.
constexpr std::int64_t kWrongRows = 64;

Tensor to_tensor(const std::vector<std::int64_t>& values) {
  Tensor tensor(Dtype::f64, {std::ssize(values)});
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    tensor.set(i, static_cast<double>(values[static_cast<std::size_t>(i)]));
  return tensor;
}

RejectionSampleReference run_reference(const TensorList& inputs, bool top_k_first) {
  const bool has_draw = inputs[1].name == "draw";
  return rejection_sample({.probs = find(inputs, "probs"),
                           .draw = find(inputs, has_draw ? "draw" : "probs"),
                           .top_k = find(inputs, "top_k"),
                           .top_p = find(inputs, "top_p"),
                           .min_p = find(inputs, "min_p"),
                           .seed = find(inputs, "seed"),
                           .step = find(inputs, "step"),
                           .top_k_first = top_k_first});
}

/// The first rows of every input.
TensorList head_of(const TensorList& inputs, std::int64_t rows) {
  TensorList head;
  for (const NamedTensor& input : inputs) {
    Shape shape = input.tensor.shape();
    shape[0] = std::min(shape[0], rows);
    Tensor part(input.tensor.dtype(), shape);
    std::ranges::copy(input.tensor.bytes().first(part.bytes().size()), part.bytes().begin());
    head.push_back({input.name, std::move(part)});
  }
  return head;
}

void set_all(Tensor& tensor, double value) {
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, value);
}

void advance(Tensor& step) {
  for (std::int64_t i = 0; i < step.elements(); ++i) step.set_bits(i, step.bits_at(i) + 1);
}

/// The answers of plausible faults, each by its tokens alone.
class WrongAnswers {
 public:
  WrongAnswers(const Case& c, const TensorList& inputs, const RejectionSampleReference& right,
               ReferenceResult& result)
      : c_(c), inputs_(inputs), right_(right), result_(result) {}

  void add_all() {
    const std::int64_t v = c_.constant("v");
    const bool top_k_first = c_.constant("order") == kTopKFirst;
    add("all_refused", [](std::int64_t) { return -1; });
    if (v >= 2)
      add("index_off_by_one", [v](std::int64_t token) { return token < 0 ? -1 : (token + 1) % v; });
    if (c_.recipe != "ordinary" || v < 256 || c_.constant("b") < kWrongRows) return;
    const auto changed = [&](const char* name, const char* input, auto change) {
      add(
          name, [&, input, change](TensorList& inputs) { change(find(inputs, input)); },
          top_k_first);
    };
    changed("top_k_dropped", "top_k", [](Tensor& top_k) { set_all(top_k, 0); });
    changed("top_p_dropped", "top_p", [](Tensor& top_p) { set_all(top_p, 1); });
    changed("min_p_dropped", "min_p", [](Tensor& min_p) { set_all(min_p, 0); });
    changed("next_step", "step", advance);
    if (c_.constant("draw") == kDrawGiven)
      add(
          "temperature_first",
          [](TensorList& inputs) { find(inputs, "probs") = find(inputs, "draw"); }, top_k_first);
    add(
        "other_order", [](TensorList&) {}, !top_k_first);
  }

 private:
  void add(std::string name, const std::function<void(TensorList&)>& change, bool top_k_first) {
    TensorList inputs = head_of(inputs_, kWrongRows);
    change(inputs);
    const RejectionSampleReference wrong = run_reference(inputs, top_k_first);
    std::vector<std::int64_t> tokens = right_.token;
    std::ranges::copy(wrong.token, tokens.begin());
    add(std::move(name), tokens);
  }
  void add(std::string name, const std::function<std::int64_t(std::int64_t)>& change) {
    std::vector<std::int64_t> tokens = right_.token;
    std::ranges::transform(tokens, tokens.begin(), change);
    add(std::move(name), tokens);
  }
  void add(std::string name, const std::vector<std::int64_t>& tokens) {
    result_.wrong_answers.push_back({std::move(name), {{"token", to_tensor(tokens)}}});
  }

  const Case& c_;
  const TensorList& inputs_;
  const RejectionSampleReference& right_;
  ReferenceResult& result_;
};

}  // namespace

std::vector<PackOutput> rejection_sample_outputs(const Case& c) {
  const std::int64_t rows = c.constant("b");
  return {exact_output("token", Dtype::i32, rows), exact_output("ok", Dtype::u8, rows),
          exact_output("rounds", Dtype::i32, rows)};
}

ReferenceResult rejection_sample_expectation(const Case& c, const TensorList& inputs) {
  ReferenceResult result;
  result.outputs = rejection_sample_outputs(c);
  const RejectionSampleReference right = run_reference(inputs, c.constant("order") == kTopKFirst);
  result.outputs[0].expected = to_tensor(right.token);
  result.outputs[1].expected = to_tensor(right.ok);
  result.outputs[2].expected = to_tensor(right.rounds);
  for (PackOutput& output : result.outputs) output.bound = output.expected;
  WrongAnswers(c, inputs, right, result).add_all();
  return result;
}

}  // namespace parity
