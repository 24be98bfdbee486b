// What the cases of both samplers share: axes, random streams of rows, and outputs that are exact.
#pragma once

#include <cstdint>
#include <string>

#include "datasets/pack.hpp"
#include "harness/case.hpp"

namespace parity {

ConstantAxis vocabulary_axis();
ConstantAxis batch_axis();
/// Blocks that share a row.
ConstantAxis splits_axis();

/// seed and step u64 [b]: datasets/SCHEMA.md says what is in them.
TensorList sampler_streams(const Case& c);

/// [rows], to be equal to what is expected.
PackOutput exact_output(std::string name, Dtype dtype, std::int64_t rows);

}  // namespace parity
