// Input data as a pure function of (seed, tensor, index): any element can be made alone, anywhere,
// with the same bits. datasets/SCHEMA.md gives the formulas for other languages.
#pragma once

#include <cstdint>
#include <string_view>

#include "datasets/tensor.hpp"

namespace parity {

/// Element `index` of the stream (seed, stream): close to standard normal (standard deviation 1.155,
/// |x| < 4.0). Philox counter {lo32(index/2), hi32(index/2), stream, 0}, key {lo32(seed), hi32(seed)};
/// words 2·(index mod 2) and the next give four 16-bit fields f; x = (Σf − 131070)·2⁻¹⁵, exact in f32.
double normal_element(std::uint64_t seed, std::uint32_t stream, std::uint64_t index);

/// Uniform word `index` of the stream: word index mod 4 of Philox counter
/// {lo32(index/4), hi32(index/4), stream, 1}.
std::uint32_t random_word(std::uint64_t seed, std::uint32_t stream, std::uint64_t index);

/// The stream number of a tensor: the low 32 bits of stable_hash(tensor name).
std::uint32_t stream_of(std::string_view tensor_name);

/// Fills a floating tensor with scale · normal_element(seed, stream_of(name), i), rounded once.
void fill_normal(Tensor& tensor, std::uint64_t seed, std::string_view name, double scale = 1.0);

/// ln(n) to within 1 %, by integer and exact arithmetic only, so that it has the same bits everywhere:
/// ln2 · (e + f + 0.3371894346·f·(1−f)) with n = 2^e·(1+f), ln2 = 0.693147180559945. ln_of(1) = 0.
double ln_of(std::uint64_t n);

}  // namespace parity
