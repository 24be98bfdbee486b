// Small tensors from values, and values from tensors.
#pragma once

#include <algorithm>
#include <cstddef>
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

/// Rows of a tensor by number, in this order.
inline Tensor rows_of(const Tensor& tensor, const std::vector<std::int64_t>& rows) {
  Shape shape = tensor.shape();
  const std::size_t bytes = tensor.bytes().size() / static_cast<std::size_t>(shape[0]);
  shape[0] = std::ssize(rows);
  Tensor result(tensor.dtype(), shape);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::ranges::copy(tensor.bytes().subspan(static_cast<std::size_t>(rows[i]) * bytes, bytes),
                      result.bytes().begin() + static_cast<std::ptrdiff_t>(i * bytes));
  return result;
}

}  // namespace parity
