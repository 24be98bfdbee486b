// Binds the Gumbel-max reference to cases.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/case.hpp"
#include "reference/gumbel_max_sample.hpp"

namespace parity {

/// token [b] i32 and ok [b] u8, both exact.
std::vector<PackOutput> gumbel_max_sample_outputs(const Case& c);
ReferenceResult gumbel_max_sample_expectation(const Case& c, const TensorList& inputs);

/// Every row of a case's inputs.
std::vector<GumbelMaxRow> gumbel_max_sample_rows(const TensorList& inputs,
                                                 const GumbelMaxRule& rule = {});

}  // namespace parity
