// Small tensors from values, and values from tensors.
#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include "datasets/tensor.hpp"

namespace parity {

/// i32 [n].
inline Tensor integer_tensor(const std::vector<std::int64_t>& values) {
  Tensor result(Dtype::i32, {std::ssize(values)});
  for (std::int64_t i = 0; i < result.elements(); ++i)
    result.set(i, static_cast<double>(values[static_cast<std::size_t>(i)]));
  return result;
}

inline std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) values.push_back(tensor.at(i));
  return values;
}

/// Of a tensor of whole numbers below 2^53.
inline std::vector<std::int64_t> integers_of(const Tensor& tensor) {
  std::vector<std::int64_t> values;
  for (const double value : values_of(tensor)) values.push_back(static_cast<std::int64_t>(value));
  return values;
}

}  // namespace parity
