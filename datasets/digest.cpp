// The only file that includes xxHash, compiled in so that no version of its library is needed.
#include "datasets/digest.hpp"

#include <fmt/format.h>

#include <charconv>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "datasets/errors.hpp"

namespace parity {
namespace {

Digest from_hash(XXH128_hash_t hash) {
  return {hash.high64, hash.low64};
}

}  // namespace

std::string Digest::hex() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

Digest Digest::parse(std::string_view hex) {
  Digest result;
  const auto word = [&](std::size_t start, std::uint64_t& value) {
    const char* end = hex.data() + start + 16;
    return std::from_chars(hex.data() + start, end, value, 16).ptr == end;
  };
  const bool lower_case = hex.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (hex.size() != 32 || !lower_case || !word(0, result.high) || !word(16, result.low))
    throw DatasetError(
        fmt::format("'{}' is not a digest: 32 lower-case hexadecimal digits are expected", hex));
  return result;
}

Digest digest(std::span<const std::byte> bytes) {
  return from_hash(XXH3_128bits(bytes.data(), bytes.size()));
}

Digest digest(std::string_view text) {
  return digest(std::as_bytes(std::span(text)));
}

Digest digest(const Tensor& tensor) {
  return digest(tensor.type(), tensor.bytes());
}

Digest digest(const TensorType& type, std::span<const std::byte> row_major) {
  const std::string head = type.to_string() + "\n";
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, head.data(), head.size());
  XXH3_128bits_update(&state, row_major.data(), row_major.size());
  return from_hash(XXH3_128bits_digest(&state));
}

std::uint64_t stable_hash(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

}  // namespace parity
