// Tensors: sizes checked for overflow, elements moved by their bits.
#include "datasets/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstring>
#include <limits>

#include "datasets/errors.hpp"

namespace parity {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are stored little-endian");

template <typename List>
auto& find_in(List& list, std::string_view wanted) {
  std::string known;
  for (auto& [tensor_name, tensor] : list) {
    if (tensor_name == wanted) return tensor;
    known += (known.empty() ? "" : ", ") + tensor_name;
  }
  throw UsageError(fmt::format("no tensor is called '{}': there are {}", wanted,
                               known.empty() ? "none" : known));
}

}  // namespace

std::int64_t TensorType::elements() const {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 8;
  std::int64_t count = 1;
  bool empty = false;
  bool too_large = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0)
      throw UsageError(
          fmt::format("{} has a negative extent: give extents of 0 or more", to_string()));
    empty = empty || extent == 0;
    too_large = too_large || (extent > 0 && count > kMost / extent);
    if (extent > 0 && !too_large) count *= extent;
  }
  if (empty) return 0;
  if (too_large)
    throw UsageError(fmt::format("{} has more bytes than 64 bits can count", to_string()));
  return count;
}

std::size_t TensorType::bytes() const {
  return static_cast<std::size_t>(elements()) * size_of(dtype);
}

std::string TensorType::to_string() const {
  return fmt::format("{}[{}]", name(dtype), fmt::join(shape, ","));
}

Tensor::Tensor(TensorType type) : type_(std::move(type)), bytes_(type_.bytes()) {}

double Tensor::at(std::int64_t index) const {
  return decode(type_.dtype, bits_at(index));
}

void Tensor::set(std::int64_t index, double value) {
  set_bits(index, encode(type_.dtype, value));
}

std::uint64_t Tensor::bits_at(std::int64_t index) const {
  const std::size_t size = size_of(type_.dtype);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes_.data() + static_cast<std::size_t>(index) * size, size);
  return bits;
}

void Tensor::set_bits(std::int64_t index, std::uint64_t bits) {
  const std::size_t size = size_of(type_.dtype);
  std::memcpy(bytes_.data() + static_cast<std::size_t>(index) * size, &bits, size);
}

const Tensor& find(const TensorList& list, std::string_view name) {
  return find_in(list, name);
}
Tensor& find(TensorList& list, std::string_view name) {
  return find_in(list, name);
}

}  // namespace parity
