// Binds the paged decode reference to cascades.
#include "harness/kernels/paged_decode_cascade_expectation.hpp"

#include <string>
#include <utility>

#include "harness/kernels/attention_wrong_answers.hpp"
#include "harness/kernels/paged_decode_cascade_inputs.hpp"
#include "harness/kernels/paged_decode_expectation.hpp"
#include "reference/paged_decode.hpp"

namespace parity {
namespace {

/// Inputs as the operation paged_decode has them.
TensorList flat_inputs(const Case& c, const TensorList& inputs) {
  TensorList flat;
  for (const NamedTensor& input : inputs) {
    if (input.name == "group_indptr") break;  // what follows are the tables
    flat.push_back(input);
  }
  FlatPageTable table = flatten(cascade_table(inputs), c.constant("page"));
  flat.push_back({"page_indptr", std::move(table.page_indptr)});
  flat.push_back({"page_indices", std::move(table.page_indices)});
  flat.push_back({"last_page_len", std::move(table.last_page_len)});
  flat.push_back({"first_page_offset", std::move(table.first_page_offset)});
  return flat;
}

}  // namespace

ReferenceResult paged_decode_cascade_expectation(const Case& c, const TensorList& inputs) {
  ReferenceResult result = paged_decode_expectation(c, flat_inputs(c, inputs));
  if (find(inputs, "prefix_indices").elements() == 0) return result;
  TensorList without = inputs;
  Tensor& indptr = find(without, "prefix_indptr");
  indptr = Tensor(indptr.type());
  const TensorList flat = flat_inputs(c, without);
  WrongAnswers(result).add("prefix_dropped", paged_decode(paged_decode_problem(c, flat)));
  return result;
}

}  // namespace parity
