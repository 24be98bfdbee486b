// Binds the paged decode reference to cases.
#include "harness/kernels/paged_decode_expectation.hpp"

#include <optional>
#include <string>
#include <utility>

#include "harness/kernels/attention_bounds.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"
#include "reference/paged_decode.hpp"

namespace parity {
PagedDecodeProblem paged_decode_problem(const Case& c, const TensorList& inputs) {
  return {.q = find(inputs, "q"),
          .k_pages = find(inputs, "k_pages"),
          .v_pages = find(inputs, "v_pages"),
          .page_indptr = find(inputs, "page_indptr"),
          .page_indices = find(inputs, "page_indices"),
          .last_page_len = find(inputs, "last_page_len"),
          .first_page_offset = find(inputs, "first_page_offset"),
          .scale = paged_decode_scale(c)};
}

std::vector<PackOutput> paged_decode_outputs(const Case& c) {
  const auto batch =
      static_cast<std::int64_t>(paged_decode_rows(c.recipe, c.constant("page")).size());
  PackOutput out{"out",
                 {c.dtype("q"), {batch, c.constant("hq"), c.constant("d")}},
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
  PagedDecodeProblem problem = paged_decode_problem(c, inputs);
  const PagedDecodeReference reference = paged_decode(problem);
  const AttentionAnswer answer{reference.out,      reference.lse,       reference.abs_mass,
                               reference.rms_mass, reference.max_score, reference.tokens};
  expect_out(answer, result.outputs[0]);
  expect_log_sum_exp(answer, result.outputs[1]);
  // Two answers, so that neither output does the rejecting for the other.
  problem.drop_last = 1;
  PagedDecodeReference dropped = paged_decode(problem);
  TensorList out;
  out.push_back({"out", std::move(dropped.out)});
  TensorList lse;
  lse.push_back({"lse", std::move(dropped.lse)});
  result.wrong_answers.emplace_back("last_token_dropped", std::move(out));
  result.wrong_answers.emplace_back("last_token_dropped in lse", std::move(lse));
  result.refused = cancellation(answer);
  return result;
}

}  // namespace parity
