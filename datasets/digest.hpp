// Content digests (XXH3-128, canonical big-endian form) and the stable hash that seeds come from.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "datasets/tensor.hpp"

namespace parity {

struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  auto operator<=>(const Digest&) const = default;
  /// 32 lower-case hexadecimal digits, high word first.
  std::string hex() const;
  /// Inverse of hex(). Throws DatasetError.
  static Digest parse(std::string_view hex);
};

Digest digest(std::span<const std::byte> bytes);
Digest digest(std::string_view text);

/// Over the text "f16[3,8,64]\n" (TensorType::to_string and a newline) followed by the row-major bytes.
Digest digest(const Tensor& tensor);
Digest digest(const TensorType& type, std::span<const std::byte> row_major);

/// XXH3-64 of the bytes of `text`: the same on every machine and for ever.
std::uint64_t stable_hash(std::string_view text);

}  // namespace parity
