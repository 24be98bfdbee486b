// Exact conversion by integer arithmetic: independent of the rounding mode, which a kernel under
// test may have left changed.
#include "datasets/dtype.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "datasets/errors.hpp"

namespace parity {
namespace {

/// Sign, `exponent_bits`, `mantissa_bits`, in this order from the top.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  bool
      has_infinity;  ///< false: only the all-ones pattern is NaN, the rest of that binade is finite

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int min_exponent() const { return 1 - bias(); }
  constexpr int max_exponent() const { return has_infinity ? bias() : bias() + 1; }
  constexpr std::uint64_t sign_bit() const { return 1ULL << (exponent_bits + mantissa_bits); }
  constexpr std::uint64_t exponent_ones() const {
    return ((1ULL << exponent_bits) - 1) << mantissa_bits;
  }
  constexpr std::uint64_t quiet_nan() const {
    return has_infinity ? exponent_ones() | 1ULL << (mantissa_bits - 1) : sign_bit() - 1;
  }
  constexpr std::uint64_t first_beyond_finite() const {
    return has_infinity ? exponent_ones() : quiet_nan();
  }
};

constexpr FloatFormat kF64{11, 52, true};
constexpr FloatFormat kF32{8, 23, true};
constexpr FloatFormat kF16{5, 10, true};
constexpr FloatFormat kBf16{8, 7, true};
constexpr FloatFormat kE4m3{4, 3, false};
constexpr FloatFormat kE5m2{5, 2, true};

const FloatFormat& format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return kF32;
    case Dtype::f16:
      return kF16;
    case Dtype::bf16:
      return kBf16;
    case Dtype::e4m3:
      return kE4m3;
    case Dtype::e5m2:
      return kE5m2;
    default:
      return kF64;
  }
}

/// Its own code for each format, since each element of every tensor comes through here.
template <const FloatFormat& format>
double decode_float(std::uint64_t bits) {
  const std::uint64_t magnitude = bits & (format.sign_bit() - 1);
  const bool negative = (bits & format.sign_bit()) != 0;
  if (magnitude >= format.first_beyond_finite()) {
    if (!format.has_infinity || magnitude > format.exponent_ones())
      return std::numeric_limits<double>::quiet_NaN();
    return negative ? -std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::infinity();
  }
  const std::uint64_t sign = negative ? kF64.sign_bit() : 0;
  if ((magnitude >> format.mantissa_bits) == 0) {
    const double value =
        std::ldexp(static_cast<double>(magnitude), format.min_exponent() - format.mantissa_bits);
    return negative ? -value : value;
  }
  // A normal number has the same bits as a double but for the widths of its fields and the bias.
  const auto rebias = static_cast<std::uint64_t>(kF64.bias() - format.bias());
  return std::bit_cast<double>(sign | ((magnitude << (kF64.mantissa_bits - format.mantissa_bits)) +
                                       (rebias << kF64.mantissa_bits)));
}

/// A positive finite double as significand · 2^exponent.
struct Parts {
  std::uint64_t significand;
  int exponent;
  int binade() const { return exponent + static_cast<int>(std::bit_width(significand)) - 1; }
};

Parts parts_of(double magnitude) {
  const auto bits = std::bit_cast<std::uint64_t>(magnitude);
  const std::uint64_t fraction = bits & ((1ULL << kF64.mantissa_bits) - 1);
  const int field = static_cast<int>(bits >> kF64.mantissa_bits);
  if (field == 0) return {fraction, kF64.min_exponent() - kF64.mantissa_bits};
  return {fraction | 1ULL << kF64.mantissa_bits, field - kF64.bias() - kF64.mantissa_bits};
}

/// significand / 2^shift to nearest even. The significand has at most 53 bits.
std::uint64_t shift_right_rounded(std::uint64_t significand, int shift) {
  if (shift > 54) return 0;
  const std::uint64_t quotient = significand >> shift;
  const std::uint64_t rest = significand & ((1ULL << shift) - 1);
  const std::uint64_t half = 1ULL << (shift - 1);
  const bool up = rest > half || (rest == half && (quotient & 1) != 0);
  return quotient + (up ? 1 : 0);
}

/// Likewise.
template <const FloatFormat& format>
std::uint64_t encode_float(double value) {
  if (std::isnan(value)) return format.quiet_nan();
  const std::uint64_t sign = std::signbit(value) ? format.sign_bit() : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  const std::uint64_t overflow =
      format.has_infinity ? sign | format.exponent_ones() : format.quiet_nan();
  if (std::isinf(magnitude)) return overflow;

  const Parts parts = parts_of(magnitude);
  if (parts.binade() > format.max_exponent()) return overflow;
  const int exponent = std::max(parts.binade(), format.min_exponent());
  const std::uint64_t significand =
      shift_right_rounded(parts.significand, exponent - format.mantissa_bits - parts.exponent);
  // A normal significand brings its leading one, which lifts the exponent field by one; so does a
  // carry.
  const std::uint64_t bits =
      (static_cast<std::uint64_t>(exponent - format.min_exponent()) << format.mantissa_bits) +
      significand;
  return bits >= format.first_beyond_finite() ? overflow : sign | bits;
}

template <typename Integer>
std::uint64_t encode_integer(Dtype dtype, double value) {
  using Limits = std::numeric_limits<Integer>;
  // The upper limit plus one is a power of two, hence exact where the limit itself is not.
  const double end = std::ldexp(1.0, Limits::digits);
  if (!(value >= static_cast<double>(Limits::min()) && value < end) || value != std::floor(value))
    throw UsageError(fmt::format("{} cannot be stored as {}: give a whole number in its range",
                                 value, name(dtype)));
  return static_cast<std::uint64_t>(static_cast<Integer>(value));
}

}  // namespace

std::string_view name(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return "f64";
    case Dtype::f32:
      return "f32";
    case Dtype::f16:
      return "f16";
    case Dtype::bf16:
      return "bf16";
    case Dtype::e4m3:
      return "e4m3";
    case Dtype::e5m2:
      return "e5m2";
    case Dtype::i32:
      return "i32";
    case Dtype::i64:
      return "i64";
    case Dtype::u8:
      return "u8";
    case Dtype::u64:
      return "u64";
  }
  throw UsageError(fmt::format("{} is not the number of a dtype", static_cast<int>(dtype)));
}

Dtype parse_dtype(std::string_view text) {
  std::string known;
  for (const Dtype dtype : kDtypes) {
    if (name(dtype) == text) return dtype;
    known += known.empty() ? "" : ", ";
    known += name(dtype);
  }
  throw UsageError(fmt::format("no dtype is called '{}': use one of {}", text, known));
}

std::size_t size_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
    case Dtype::i64:
    case Dtype::u64:
      return 8;
    case Dtype::f32:
    case Dtype::i32:
      return 4;
    case Dtype::f16:
    case Dtype::bf16:
      return 2;
    case Dtype::e4m3:
    case Dtype::e5m2:
    case Dtype::u8:
      return 1;
  }
  throw UsageError(fmt::format("{} is not the number of a dtype", static_cast<int>(dtype)));
}

bool is_floating(Dtype dtype) {
  return dtype <= Dtype::e5m2;
}

double decode(Dtype dtype, std::uint64_t bits) {
  switch (dtype) {
    case Dtype::f64:
      return std::bit_cast<double>(bits);
    case Dtype::i32:
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    case Dtype::i64:
      return static_cast<double>(static_cast<std::int64_t>(bits));
    case Dtype::u8:
      return static_cast<std::uint8_t>(bits);
    case Dtype::u64:
      return static_cast<double>(bits);
    case Dtype::f32:
      return decode_float<kF32>(bits);
    case Dtype::f16:
      return decode_float<kF16>(bits);
    case Dtype::bf16:
      return decode_float<kBf16>(bits);
    case Dtype::e4m3:
      return decode_float<kE4m3>(bits);
    case Dtype::e5m2:
      return decode_float<kE5m2>(bits);
  }
  throw UsageError(fmt::format("{} is not the number of a dtype", static_cast<int>(dtype)));
}

std::uint64_t encode(Dtype dtype, double value) {
  switch (dtype) {
    case Dtype::f64:
      return std::isnan(value) ? kF64.quiet_nan() : std::bit_cast<std::uint64_t>(value);
    case Dtype::i32:
      return encode_integer<std::int32_t>(dtype, value) & 0xffffffffULL;
    case Dtype::i64:
      return encode_integer<std::int64_t>(dtype, value);
    case Dtype::u8:
      return encode_integer<std::uint8_t>(dtype, value);
    case Dtype::u64:
      return encode_integer<std::uint64_t>(dtype, value);
    case Dtype::f32:
      return encode_float<kF32>(value);
    case Dtype::f16:
      return encode_float<kF16>(value);
    case Dtype::bf16:
      return encode_float<kBf16>(value);
    case Dtype::e4m3:
      return encode_float<kE4m3>(value);
    case Dtype::e5m2:
      return encode_float<kE5m2>(value);
  }
  throw UsageError(fmt::format("{} is not the number of a dtype", static_cast<int>(dtype)));
}

double half_spacing(Dtype dtype, double at) {
  if (!is_floating(dtype) || !std::isfinite(at)) return 0;
  const FloatFormat& format = format_of(dtype);
  const int binade = at == 0 ? format.min_exponent() : parts_of(std::fabs(at)).binade();
  const int exponent = std::clamp(binade, format.min_exponent(), format.max_exponent());
  return std::ldexp(1.0, exponent - format.mantissa_bits - 1);
}

}  // namespace parity
