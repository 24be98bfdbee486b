// Element types of kernel text and their arithmetic: conversion to and from f32, loads and stores
// of eight elements, and full-precision functions.
#pragma once

#include "simt.cuh"

namespace parity {

using f32 = float;
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
struct e4m3 {  // OCP "FN": no infinity; all ones but the sign is NaN
  u8 bits;
};
struct e5m2 {
  u8 bits;
};

#if !defined(PARITY_HOST_MODULE)
PARITY_DEVICE u32 bits_of(f32 value) {
  return __float_as_uint(value);
}
PARITY_DEVICE f32 f32_of(u32 bits) {
  return __uint_as_float(bits);
}
PARITY_DEVICE f32 exp2(f32 x) {
  return ::exp2f(x);
}
PARITY_DEVICE f32 log2(f32 x) {
  return ::log2f(x);
}
PARITY_DEVICE f32 fma(f32 a, f32 b, f32 c) {
  return ::fmaf(a, b, c);
}
PARITY_DEVICE f32 tanh(f32 x) {
  return ::tanhf(x);
}
#else
PARITY_DEVICE u32 bits_of(f32 value) {
  return __builtin_bit_cast(u32, value);
}
PARITY_DEVICE f32 f32_of(u32 bits) {
  return __builtin_bit_cast(f32, bits);
}
PARITY_DEVICE f32 exp2(f32 x) {
  return __builtin_exp2f(x);
}
PARITY_DEVICE f32 log2(f32 x) {
  return __builtin_log2f(x);
}
PARITY_DEVICE f32 fma(f32 a, f32 b, f32 c) {
  return __builtin_fmaf(a, b, c);
}
PARITY_DEVICE f32 tanh(f32 x) {
  return __builtin_tanhf(x);
}
#endif

PARITY_DEVICE f32 infinity() {
  return f32_of(0x7f800000u);
}

/// The larger of the two; `a` where `b` is a NaN.
PARITY_DEVICE f32 larger(f32 a, f32 b) {
#if !defined(PARITY_HOST_MODULE)
  return ::fmaxf(a, b);
#else
  return b > a ? b : a;
#endif
}

PARITY_DEVICE f32 to_float(f32 x) {
  return x;
}

PARITY_DEVICE f32 to_float(bf16 x) {
  return f32_of(static_cast<u32>(x.bits) << 16);
}

PARITY_DEVICE f32 to_float(f16 x) {
#if !defined(PARITY_HOST_MODULE)
  f32 value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
#else
  const u32 sign = static_cast<u32>(x.bits & 0x8000u) << 16;
  const u32 exponent = (x.bits >> 10) & 0x1fu;
  const u32 mantissa = x.bits & 0x3ffu;
  if (exponent == 31) return f32_of(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) return f32_of(sign | bits_of(static_cast<f32>(mantissa) * 0x1p-24f));
  return f32_of(sign | ((exponent + 112) << 23) | (mantissa << 13));
#endif
}

/// The upper half of an f16.
PARITY_DEVICE f32 to_float(e5m2 x) {
  return to_float(f16{static_cast<u16>(x.bits << 8)});
}

/// Exponent and mantissa as those of an f32 whose bias is 120 larger.
PARITY_DEVICE f32 to_float(e4m3 x) {
  const u32 sign = static_cast<u32>(x.bits & 0x80u) << 24;
  const u32 magnitude = x.bits & 0x7fu;
  const f32 value = f32_of(magnitude << 20) * 0x1p120f;
  return f32_of(sign | (magnitude == 0x7fu ? 0x7fc00000u : bits_of(value)));
}

/// Of the two elements in the low half of `pair`.
template <class T>
PARITY_DEVICE void pair_to_float(u32 pair, f32& first, f32& second) {
  first = to_float(T{static_cast<u8>(pair & 0xffu)});
  second = to_float(T{static_cast<u8>((pair >> 8) & 0xffu)});
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
template <>
PARITY_DEVICE void pair_to_float<e4m3>(u32 pair, f32& first, f32& second) {
  u32 halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<u16>(pair)));
  first = to_float(f16{static_cast<u16>(halves & 0xffffu)});
  second = to_float(f16{static_cast<u16>(halves >> 16)});
}
#endif

/// Rounds to nearest even; a NaN stays one.
template <class T>
PARITY_DEVICE T from_float(f32 value);

template <>
PARITY_DEVICE f32 from_float<f32>(f32 value) {
  return value;
}

template <>
PARITY_DEVICE bf16 from_float<bf16>(f32 value) {
#if !defined(PARITY_HOST_MODULE)
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return {bits};
#else
  const u32 bits = bits_of(value);
  if (value != value) return {static_cast<u16>((bits >> 16) | 0x40u)};
  return {static_cast<u16>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
#endif
}

template <>
PARITY_DEVICE f16 from_float<f16>(f32 value) {
#if !defined(PARITY_HOST_MODULE)
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return {bits};
#else
  const u32 sign = (bits_of(value) >> 16) & 0x8000u;
  const u32 magnitude = bits_of(value) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {static_cast<u16>(sign | 0x7e00u)};
  // 65520 lies halfway between the largest f16 and the next power of two.
  if (magnitude >= bits_of(65520.0f)) return {static_cast<u16>(sign | 0x7c00u)};
  if (magnitude < bits_of(0x1p-14f)) {  // a subnormal f16: let an f32 addition round at 2^-24
    const u32 rounded = bits_of(f32_of(magnitude) + 0.5f) - bits_of(0.5f);
    return {static_cast<u16>(sign | rounded)};
  }
  const u32 rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return {static_cast<u16>(sign | ((rounded - (112u << 23)) >> 13))};
#endif
}

/// What one memory instruction moves.
struct alignas(16) Words4 {
  u32 word[4];
};

struct alignas(8) Words2 {
  u32 word[2];
};

/// Eight elements as they lie in memory.
template <class T>
struct Pack8 {
  Words4 part[sizeof(T) / 2];
};
template <>
struct Pack8<e4m3> {
  Words2 part[1];
};
template <>
struct Pack8<e5m2> {
  Words2 part[1];
};

/// Read-only data that is used once, so it need not stay in L1.
PARITY_DEVICE Words4 load_words(const void* address) {
  Words4 w;
#if !defined(PARITY_HOST_MODULE)
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(w.word[0]), "=r"(w.word[1]), "=r"(w.word[2]), "=r"(w.word[3])
      : "l"(address));
#else
  __builtin_memcpy(&w, address, sizeof w);
#endif
  return w;
}
PARITY_DEVICE Words2 load_two_words(const void* address) {
  Words2 w;
#if !defined(PARITY_HOST_MODULE)
  asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
      : "=r"(w.word[0]), "=r"(w.word[1])
      : "l"(address));
#else
  __builtin_memcpy(&w, address, sizeof w);
#endif
  return w;
}

/// `address`: aligned to eight elements, or to 16 bytes where those are more.
template <class T>
PARITY_DEVICE Pack8<T> load8(const T* address) {
  Pack8<T> pack;
  const auto* const bytes = reinterpret_cast<const char*>(address);
  if constexpr (sizeof(T) == 1) {
    pack.part[0] = load_two_words(bytes);
  } else {
#pragma unroll
    for (u32 i = 0; i < sizeof(T) / 2; ++i) pack.part[i] = load_words(bytes + 16 * i);
  }
  return pack;
}

template <class T>
PARITY_DEVICE void unpack(const Pack8<T>& pack, f32 (&values)[8]) {
#pragma unroll
  for (u32 i = 0; i < 4; ++i) {
    const u32 word = pack.part[0].word[i];
    values[2 * i] = to_float(T{static_cast<u16>(word & 0xffffu)});
    values[2 * i + 1] = to_float(T{static_cast<u16>(word >> 16)});
  }
}

template <class T>
PARITY_DEVICE void unpack_bytes(const Pack8<T>& pack, f32 (&values)[8]) {
#pragma unroll
  for (u32 i = 0; i < 4; ++i)
    pair_to_float<T>(pack.part[0].word[i / 2] >> (16 * (i % 2)), values[2 * i], values[2 * i + 1]);
}

template <>
PARITY_DEVICE void unpack<f32>(const Pack8<f32>& pack, f32 (&values)[8]) {
#pragma unroll
  for (u32 i = 0; i < 8; ++i) values[i] = f32_of(pack.part[i / 4].word[i % 4]);
}

PARITY_DEVICE void unpack(const Pack8<e4m3>& pack, f32 (&values)[8]) {
  unpack_bytes(pack, values);
}

PARITY_DEVICE void unpack(const Pack8<e5m2>& pack, f32 (&values)[8]) {
  unpack_bytes(pack, values);
}

template <class T>
PARITY_DEVICE void load8(const T* address, f32 (&values)[8]) {
  unpack(load8(address), values);
}

template <class T>
PARITY_DEVICE Pack8<T> pack8(const f32 (&values)[8]) {
  Pack8<T> pack;
#pragma unroll
  for (u32 i = 0; i < 4; ++i)
    pack.part[0].word[i] = static_cast<u32>(from_float<T>(values[2 * i]).bits) |
                           static_cast<u32>(from_float<T>(values[2 * i + 1]).bits) << 16;
  return pack;
}

template <>
PARITY_DEVICE Pack8<f32> pack8<f32>(const f32 (&values)[8]) {
  Pack8<f32> pack;
#pragma unroll
  for (u32 i = 0; i < 8; ++i) pack.part[i / 4].word[i % 4] = bits_of(values[i]);
  return pack;
}

/// `address`: 16-byte aligned. Each value is rounded once.
template <class T>
PARITY_DEVICE void store8(T* address, const f32 (&values)[8]) {
  const Pack8<T> pack = pack8<T>(values);
#if !defined(PARITY_HOST_MODULE)
  *reinterpret_cast<Pack8<T>*>(address) = pack;
#else
  __builtin_memcpy(address, &pack, sizeof pack);
#endif
}

}  // namespace parity
