// A dense row-major tensor in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dtype.hpp"

namespace parity {

using Shape = std::vector<std::int64_t>;

/// Dtype and shape, without data. A shape of rank 0 is one element; any extent may be 0.
struct TensorType {
  Dtype dtype = Dtype::f32;
  Shape shape;

  bool operator==(const TensorType&) const = default;
  std::int64_t elements() const;
  std::size_t bytes() const;
  /// "f16[3,8,64]"
  std::string to_string() const;
};

class Tensor {
 public:
  Tensor() = default;
  /// All bytes zero.
  explicit Tensor(TensorType type);
  Tensor(Dtype dtype, Shape shape) : Tensor(TensorType{dtype, std::move(shape)}) {}

  const TensorType& type() const { return type_; }
  Dtype dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  std::int64_t elements() const { return type_.elements(); }

  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<std::byte> bytes() { return bytes_; }

  /// Element `index` (row-major) as double. Requires 0 <= index < elements().
  double at(std::int64_t index) const;
  /// Stores `value` rounded once to the dtype.
  void set(std::int64_t index, double value);
  /// The element's own bits, zeros above them: of a u64 all that it is, where a double holds 53.
  std::uint64_t bits_at(std::int64_t index) const;
  void set_bits(std::int64_t index, std::uint64_t bits);

  bool operator==(const Tensor&) const = default;

 private:
  TensorType type_;
  std::vector<std::byte> bytes_;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};
using TensorList = std::vector<NamedTensor>;

/// The tensor called `name`. Throws UsageError naming those that exist.
const Tensor& find(const TensorList& list, std::string_view name);
Tensor& find(TensorList& list, std::string_view name);

}  // namespace parity
