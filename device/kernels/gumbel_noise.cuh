// From a random word to Gumbel noise, and a cheap bound that the noise never exceeds.
#pragma once

#include "numeric.cuh"

namespace parity {

constexpr f32 kLargestF32 = 0x1.fffffep127f;

#if !defined(PARITY_HOST_MODULE)
PARITY_DEVICE f32 natural_log(f32 x) {
  return ::logf(x);
}
PARITY_DEVICE f32 natural_log_1p(f32 x) {
  return ::log1pf(x);
}
#else
PARITY_DEVICE f32 natural_log(f32 x) {
  return __builtin_logf(x);
}
PARITY_DEVICE f32 natural_log_1p(f32 x) {
  return __builtin_log1pf(x);
}
#endif

/// (word + 0.5)·2^-32 in f32 arithmetic, 1 - 2^-24 at most: never 0 and never 1.
PARITY_DEVICE f32 uniform_of(u32 word) {
  const f32 v = (static_cast<f32>(word) + 0.5f) * 0x1p-32f;
  return v < 1.0f - 0x1p-24f ? v : 1.0f - 0x1p-24f;
}

/// -ln(-ln(1 - v)) of v = uniform_of(word): from -2.82 to 22.88.
PARITY_DEVICE f32 gumbel_noise(u32 word) {
  return -natural_log(-natural_log_1p(-uniform_of(word)));
}

/// At least gumbel_noise(word) - 1.5e-5, and 0.09 more at most where the noise is above 3. For
/// -ln(1 - v) > v, so that the noise is below -ln v; and log2 v lies above its chord between powers
/// of two, which is what the bits of v are, read as a number.
PARITY_DEVICE f32 gumbel_noise_bound(u32 word) {
  constexpr f32 kLn2 = 0.693147181f;
  const f32 chord = static_cast<f32>(bits_of(uniform_of(word)));
  return fma(chord, -kLn2 * 0x1p-23f, 127.0f * kLn2);
}

/// logit / temperature + noise in f32, of a logit above -infinity. A quotient that overflows is the
/// largest number of its sign, so that an infinite logit beats it and it beats none at all. Noise:
/// what the noise is rounded to, f32 unless a plant would have it otherwise.
template <class Noise = f32>
PARITY_DEVICE f32 gumbel_score(f32 logit, f32 temperature, u32 word) {
  if (logit == infinity()) return logit;
  f32 quotient = logit / temperature;
  if (quotient > kLargestF32) quotient = kLargestF32;
  if (quotient < -kLargestF32) quotient = -kLargestF32;
  return quotient + to_float(from_float<Noise>(gumbel_noise(word)));
}

// What the shortcut below may be off by: 6·2^-24 of |logit/temperature| (the reciprocal, its
// product, the quotient, and three additions) and 2e-5 (1.5e-5 of the bound; of noise below 23 a
// few roundings and logarithms good to 2 units in the last place). The margins are more than twice
// that.
constexpr f32 kRelativeMargin = 0x1p-20f;
constexpr f32 kAbsoluteMargin = 6e-5f;

/// True only where gumbel_score(logit, temperature, word) < floor; `inverse` is 1 / temperature.
/// False for infinities and wherever arithmetic overflows, and if floor is infinite.
PARITY_DEVICE bool is_below(f32 floor, f32 logit, f32 inverse, u32 word) {
  const f32 quotient = logit * inverse;
  const f32 size = quotient < 0.0f ? -quotient : quotient;
  const f32 bound = quotient + gumbel_noise_bound(word) + kAbsoluteMargin;
  return fma(size, kRelativeMargin, bound) <= floor;
}

}  // namespace parity
