// Recipes of the operation gumbel_max_sample.
#pragma once

#include <string>
#include <vector>

#include "harness/case.hpp"

namespace parity {

std::vector<std::string> gumbel_max_sample_recipes();

/// Of the constants v and b, and the recipe.
std::vector<Requirement> gumbel_max_sample_requirements();

/// logits [b, v], temperature [b], seed [b], step [b]. datasets/SCHEMA.md says what is in them.
TensorList gumbel_max_sample_inputs(const Case& c);
std::vector<InputType> gumbel_max_sample_input_types(const Case& c);

}  // namespace parity
