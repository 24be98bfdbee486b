// Recipes of the operation rejection_sample.
#pragma once

#include <string>
#include <vector>

#include "harness/case.hpp"

namespace parity {

/// Values of the axes `draw` and `order`.
inline constexpr std::int64_t kDrawByProbs = 0;
inline constexpr std::int64_t kDrawGiven = 1;
inline constexpr std::int64_t kJoint = 0;
inline constexpr std::int64_t kTopKFirst = 1;

std::vector<std::string> rejection_sample_recipes();
/// Those whose rows have the same answer whatever is dropped, or none.
std::vector<std::string> rejection_sample_degenerate_recipes();

/// Of the constants v, b and splits.
std::vector<Requirement> rejection_sample_requirements();

/// probs [b, v], draw likewise where the axis says so, and of each row top_k, top_p, min_p, seed
/// and step. datasets/SCHEMA.md says what is in them.
TensorList rejection_sample_inputs(const Case& c);
std::vector<InputType> rejection_sample_input_types(const Case& c);

}  // namespace parity
