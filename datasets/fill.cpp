// Streams of input data, from Philox words by exact arithmetic.
#include "datasets/fill.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"
#include "datasets/philox.hpp"

namespace parity {
namespace {

/// The fourth counter word: the two kinds of stream never share a word.
constexpr std::uint32_t kNormalPlane = 0;
constexpr std::uint32_t kWordPlane = 1;

constexpr std::uint32_t low32(std::uint64_t word) {
  return static_cast<std::uint32_t>(word);
}
constexpr std::uint32_t high32(std::uint64_t word) {
  return low32(word >> 32);
}

std::array<std::uint32_t, 4> block(std::uint64_t seed, std::uint32_t stream, std::uint64_t number,
                                   std::uint32_t plane) {
  return philox4x32({low32(number), high32(number), stream, plane}, {low32(seed), high32(seed)});
}

double normal_from(std::uint32_t a, std::uint32_t b) {
  const std::int32_t sum =
      static_cast<std::int32_t>((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16));
  return (sum - 131070) * 0x1p-15;
}

}  // namespace

double normal_element(std::uint64_t seed, std::uint32_t stream, std::uint64_t index) {
  const auto words = block(seed, stream, index / 2, kNormalPlane);
  const std::size_t first = 2 * (index % 2);
  return normal_from(words[first], words[first + 1]);
}

std::uint32_t random_word(std::uint64_t seed, std::uint32_t stream, std::uint64_t index) {
  return block(seed, stream, index / 4, kWordPlane)[index % 4];
}

std::uint32_t stream_of(std::string_view tensor_name) {
  return low32(stable_hash(tensor_name));
}

void fill_normal(Tensor& tensor, std::uint64_t seed, std::string_view name, double scale) {
  if (!is_floating(tensor.dtype()))
    throw UsageError(fmt::format("tensor '{}' is {}: only floating tensors are filled with normals",
                                 name, tensor.type().to_string()));
  const std::uint32_t stream = stream_of(name);
  const std::int64_t count = tensor.elements();
  for (std::int64_t i = 0; i < count; i += 2) {
    const auto words = block(seed, stream, static_cast<std::uint64_t>(i) / 2, kNormalPlane);
    tensor.set(i, scale * normal_from(words[0], words[1]));
    if (i + 1 < count) tensor.set(i + 1, scale * normal_from(words[2], words[3]));
  }
}

double ln_of(std::uint64_t n) {
  if (n == 0) throw UsageError("the logarithm of 0 was asked for: give 1 or more");
  constexpr double kLn2 = 0.693147180559945;
  constexpr double kCurve = 0.3371894346;
  const int exponent = static_cast<int>(std::bit_width(n)) - 1;
  const std::uint64_t power = std::uint64_t{1} << exponent;
  const double fraction = static_cast<double>(n - power) / static_cast<double>(power);
  const double bend = kCurve * fraction * (1.0 - fraction);
  return kLn2 * ((exponent + fraction) + bend);
}

}  // namespace parity
