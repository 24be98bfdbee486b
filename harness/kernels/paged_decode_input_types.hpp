// What the inputs of paged decode operations are, before they are made.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/case.hpp"
#include "harness/kernel_spec.hpp"

namespace parity {

/// i32 of rank 1.
InputType integers_type(std::string name, std::int64_t count);

/// q and the pools, which every operation of paged decode has first.
std::vector<InputType> paged_decode_tensor_types(const Case& c);

/// Those of paged_decode_inputs.
std::vector<InputType> paged_decode_input_types(const Case& c);

}  // namespace parity
