// Binds the paged decode reference to cases.
#include "harness/kernels/paged_decode_expectation.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "harness/kernels/attention_bounds.hpp"
#include "harness/kernels/attention_wrong_answers.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"
#include "harness/kernels/paged_decode_layout.hpp"
#include "reference/paged_decode.hpp"

namespace parity {
namespace {

/// One token more or less than the window holds, where some row has a token outside it.
void add_wrong_windows(const Case& c, const PagedDecodeProblem& problem, WrongAnswers& answers) {
  const bool matters = std::ranges::any_of(
      paged_decode_rows(c.recipe, c.constant("page")),
      [&](const PagedRow& row) { return problem.window > 0 && row.tokens > problem.window; });
  if (!matters) return;
  PagedDecodeProblem wrong = problem;
  wrong.window = problem.window + 1;
  answers.add("window_one_longer", paged_decode(wrong));
  // Without its one token a row of window 1 attends to nothing: that is last_token_dropped. In out,
  // one ordinary token of thousands is less than a 16-bit output's spacing.
  wrong.window = problem.window - 1;
  if (wrong.window > 0) answers.add_lse("window_one_shorter", paged_decode(wrong).lse);
}

}  // namespace

PagedPool paged_decode_pool(const Case& c, const TensorList& inputs, Pool which) {
  const PageLayout layout = page_layout(c);
  const Tensor& tensor = find(inputs, pool_tensor(layout, which));
  const PoolPlace place = pool_place(layout, which, tensor.shape());
  return {.tensor = tensor,
          .pages = place.pages,
          .stride_page = place.stride_page,
          .stride_slot = place.stride_slot,
          .stride_head = place.stride_head,
          .offset = place.offset};
}

PagedDecodeProblem paged_decode_problem(const Case& c, const TensorList& inputs) {
  return {.q = find(inputs, "q"),
          .k = paged_decode_pool(c, inputs, Pool::k),
          .v = paged_decode_pool(c, inputs, Pool::v),
          .page_indptr = find(inputs, "page_indptr"),
          .page_indices = find(inputs, "page_indices"),
          .last_page_len = find(inputs, "last_page_len"),
          .first_page_offset = find(inputs, "first_page_offset"),
          .page_size = c.constant("page"),
          .kv_heads = c.constant("hkv"),
          .scale = paged_decode_scale(c),
          .k_scale = paged_decode_scales(c).k,
          .v_scale = paged_decode_scales(c).v,
          .softcap = static_cast<double>(c.constant("softcap")),
          .window = c.constant("window")};
}

std::vector<PackOutput> paged_decode_outputs(const Case& c) {
  const auto batch =
      static_cast<std::int64_t>(paged_decode_rows(c.recipe, c.constant("page")).size());
  PackOutput out{"out",
                 {c.dtype("out"), {batch, c.constant("hq"), c.constant("d")}},
                 OutputRule::rows,
                 std::nullopt,
                 std::nullopt};
  PackOutput lse{"lse",
                 {Dtype::f32, {batch, c.constant("hq")}},
                 OutputRule::log_sum_exp,
                 std::nullopt,
                 std::nullopt};
  return {std::move(out), std::move(lse)};
}

ReferenceResult paged_decode_expectation(const Case& c, const TensorList& inputs) {
  ReferenceResult result;
  result.outputs = paged_decode_outputs(c);
  const PagedDecodeProblem problem = paged_decode_problem(c, inputs);
  const PagedDecodeReference reference = paged_decode(problem);
  const AttentionAnswer answer{reference.out,      reference.lse,       reference.abs_mass,
                               reference.rms_mass, reference.max_score, reference.tokens};
  expect_out(answer, result.outputs[0]);
  expect_log_sum_exp(answer, result.outputs[1]);
  WrongAnswers answers(result);
  PagedDecodeProblem dropped = problem;
  dropped.drop_last = 1;
  answers.add("last_token_dropped", paged_decode(dropped));
  add_wrong_windows(c, problem, answers);
  add_ignored_factors(problem, reference.out, paged_decode, answers);
  result.refused = cancellation(answer);
  return result;
}

}  // namespace parity
