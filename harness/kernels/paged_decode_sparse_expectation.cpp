// Binds the sparse paged decode reference to cases.
#include "harness/kernels/paged_decode_sparse_expectation.hpp"

#include <string>
#include <utility>

#include "harness/kernels/attention_bounds.hpp"
#include "harness/kernels/attention_wrong_answers.hpp"
#include "harness/kernels/paged_decode_expectation.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"
#include "harness/kernels/paged_decode_layout.hpp"
#include "reference/paged_decode_sparse.hpp"

namespace parity {
namespace {

/// `lists`: the tensors page_indptr and page_indices.
PagedDecodeSparseProblem problem_of(const Case& c, const TensorList& inputs) {
  return {.q = find(inputs, "q"),
          .k = paged_decode_pool(c, inputs, Pool::k),
          .v = paged_decode_pool(c, inputs, Pool::v),
          .page_indptr = find(inputs, "page_indptr"),
          .page_indices = find(inputs, "page_indices"),
          .kv_heads = c.constant("hkv"),
          .scale = paged_decode_scale(c),
          .k_scale = paged_decode_scales(c).k,
          .v_scale = paged_decode_scales(c).v,
          .softcap = static_cast<double>(c.constant("softcap"))};
}

/// Of all the slots of each row.
PagedDecodeReference dense_answer(const PagedDecodeSparseProblem& sparse,
                                  const TensorList& dense_inputs) {
  return paged_decode({.q = sparse.q,
                       .k = sparse.k,
                       .v = sparse.v,
                       .page_indptr = find(dense_inputs, "page_indptr"),
                       .page_indices = find(dense_inputs, "page_indices"),
                       .last_page_len = find(dense_inputs, "last_page_len"),
                       .first_page_offset = find(dense_inputs, "first_page_offset"),
                       .page_size = 1,
                       .kv_heads = sparse.kv_heads,
                       .scale = sparse.scale,
                       .k_scale = sparse.k_scale,
                       .v_scale = sparse.v_scale,
                       .softcap = sparse.softcap});
}

}  // namespace

ReferenceResult paged_decode_sparse_expectation(const Case& c, const TensorList& inputs) {
  ReferenceResult result;
  result.outputs = paged_decode_outputs(c);
  const PagedDecodeSparseProblem problem = problem_of(c, inputs);
  const PagedDecodeReference reference = paged_decode_sparse(problem);
  const AttentionAnswer answer{reference.out,      reference.lse,       reference.abs_mass,
                               reference.rms_mass, reference.max_score, reference.tokens};
  expect_out(answer, result.outputs[0]);
  expect_log_sum_exp(answer, result.outputs[1]);
  WrongAnswers answers(result);
  PagedDecodeSparseProblem dropped = problem;
  dropped.drop_last = 1;
  answers.add("last_slot_dropped", paged_decode_sparse(dropped));
  const TensorList dense = paged_decode_inputs(c);
  if (problem.page_indices.elements() < find(dense, "page_indices").elements() * c.constant("hkv"))
    answers.add("all_slots_of_the_row", dense_answer(problem, dense));
  add_ignored_factors(problem, reference.out, paged_decode_sparse, answers);
  result.refused = cancellation(answer);
  return result;
}

}  // namespace parity
