// Element types: names, sizes, and exact conversion between their bits and double.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parity {

enum class Dtype : std::uint8_t { f64, f32, f16, bf16, e4m3, e5m2, i32, i64, u8, u64 };

/// Every dtype, in the enum's order.
inline constexpr std::array kDtypes = {Dtype::f64,  Dtype::f32,  Dtype::f16, Dtype::bf16,
                                       Dtype::e4m3, Dtype::e5m2, Dtype::i32, Dtype::i64,
                                       Dtype::u8,   Dtype::u64};

/// "f32", "bf16", ...
std::string_view name(Dtype dtype);

/// The dtype called `text`. Throws UsageError naming the known ones.
Dtype parse_dtype(std::string_view text);

/// Bytes of one element.
std::size_t size_of(Dtype dtype);

/// True for f64, f32, f16, bf16, e4m3 and e5m2.
bool is_floating(Dtype dtype);

/// The value of the element whose bits are the low bits of `bits`; exact for every dtype but i64
/// and u64 beyond 2^53. e4m3 is the OCP "FN" type: no infinity, NaN is 0x7f and 0xff.
double decode(Dtype dtype, std::uint64_t bits);

/// The bits of `value` rounded once, to nearest even, straight from double. Overflow gives infinity
/// (e4m3: NaN). NaN gives the canonical quiet NaN. Integers: the value must be representable.
std::uint64_t encode(Dtype dtype, double value);

/// Half the distance between the two neighbours of `dtype` that enclose |at| (half a unit in the
/// last place; subnormals included); 0 for integers and for a non-finite `at`. Values beyond the
/// largest finite number use the spacing of its binade.
double half_spacing(Dtype dtype, double at);

}  // namespace parity
