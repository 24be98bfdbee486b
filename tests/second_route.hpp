// The answers of attention operations by another hand: bits are decoded here, sums are long doubles
// from the last token to the first, exponentials natural and not shifted by the largest score.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "datasets/tensor.hpp"
#include "harness/case.hpp"

namespace parity::second_route {

using Real = long double;

/// Sign, exponent and mantissa of datasets/SCHEMA.md's table of dtypes.
inline Real element(const Tensor& tensor, std::int64_t index) {
  struct Bits {
    int exponent, mantissa;
  };
  const Dtype dtype = tensor.dtype();
  const Bits layout = dtype == Dtype::f32    ? Bits{8, 23}
                      : dtype == Dtype::f16  ? Bits{5, 10}
                      : dtype == Dtype::bf16 ? Bits{8, 7}
                      : dtype == Dtype::e4m3 ? Bits{4, 3}
                                             : Bits{5, 2};
  const std::size_t size = static_cast<std::size_t>(1 + layout.exponent + layout.mantissa) / 8;
  std::uint64_t word = 0;
  std::memcpy(&word, tensor.bytes().data() + static_cast<std::size_t>(index) * size, size);
  const std::uint64_t ones = (1U << layout.exponent) - 1;
  const std::uint64_t field = (word >> layout.mantissa) & ones;
  const std::uint64_t mantissa = word & ((1U << layout.mantissa) - 1);
  const bool negative = (word >> (layout.exponent + layout.mantissa)) != 0;
  const bool e4m3 = dtype == Dtype::e4m3;
  Real value = std::numeric_limits<Real>::quiet_NaN();
  if (field == ones && !e4m3) {
    if (mantissa == 0) value = std::numeric_limits<Real>::infinity();
  } else if (!(e4m3 && field == ones && mantissa == 7)) {
    const int bias = static_cast<int>(ones / 2);
    const std::uint64_t implied = field > 0 ? std::uint64_t{1} << layout.mantissa : 0;
    value = std::ldexp(static_cast<Real>(implied + mantissa),
                       static_cast<int>(field > 0 ? field : 1) - bias - layout.mantissa);
  }
  return negative ? -value : value;
}

inline std::int64_t integer(const Tensor& tensor, std::int64_t index) {
  std::int32_t value = 0;
  std::memcpy(&value, tensor.bytes().data() + 4 * index, sizeof value);
  return value;
}

/// Σ w·v and log2 Σ w over what was added, w = e^score.
class WeightedSum {
 public:
  explicit WeightedSum(std::int64_t length) : sum_(static_cast<std::size_t>(length), 0) {}

  template <class ValueAt>
  void add(Real score, const ValueAt& value_at) {
    if (std::isnan(score) || score == std::numeric_limits<Real>::infinity()) undefined_ = true;
    if (undefined_ || std::isinf(score)) return;
    const Real weight = std::exp(score);
    total_ += weight;
    for (std::size_t i = 0; i < sum_.size(); ++i)
      sum_[i] += weight * value_at(static_cast<std::int64_t>(i));
  }

  /// To `out` from element `at` on; what is not finite is the NaN that says so.
  void store(Tensor& out, std::int64_t at, Tensor& lse, std::int64_t index, Real factor) const {
    const Real nan = std::numeric_limits<Real>::quiet_NaN();
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      const Real value = undefined_ ? nan : total_ == 0 ? 0 : factor * sum_[i] / total_;
      out.set(at + static_cast<std::int64_t>(i),
              static_cast<double>(std::isfinite(value) ? value : nan));
    }
    lse.set(index, static_cast<double>(undefined_ ? nan : std::log2(total_)));
  }

 private:
  std::vector<Real> sum_;
  Real total_ = 0;
  bool undefined_ = false;
};

struct Answer {
  Tensor out, lse;  ///< f64, like PackOutput::expected
};

/// A token's place in the pools.
struct Token {
  std::int64_t page, slot;
};

/// Elements of the pools by the four layouts of datasets/SCHEMA.md.
class Pools {
 public:
  Pools(const Case& c, const TensorList& inputs, std::int64_t page_size)
      : layout_(layout_of(c.id())),
        k_(find(inputs, layout_ == "interleaved" ? "kv_pages" : "k_pages")),
        v_(find(inputs, layout_ == "interleaved" ? "kv_pages" : "v_pages")),
        page_(page_size),
        heads_(c.constant("hkv")),
        d_(c.constant("d")) {}

  Real k(const Token& token, std::int64_t head, std::int64_t i) const {
    return element(k_, at(token, head, i, 0));
  }
  Real v(const Token& token, std::int64_t head, std::int64_t i) const {
    return element(v_, at(token, head, i, 1));
  }

 private:
  static std::string layout_of(const std::string& id) {
    for (const char* word : {"hnd", "interleaved", "padded"})
      if (id.find(std::string("layout=") + word) != std::string::npos) return word;
    return "nhd";
  }
  std::int64_t at(const Token& t, std::int64_t head, std::int64_t i, std::int64_t half) const {
    if (layout_ == "hnd") return ((t.page * heads_ + head) * page_ + t.slot) * d_ + i;
    if (layout_ == "interleaved")
      return (((t.page * 2 + half) * page_ + t.slot) * heads_ + head) * d_ + i;
    const std::int64_t slots = layout_ == "padded" ? page_ + 1 : page_;
    return ((t.page * slots + t.slot) * heads_ + head) * d_ + i;
  }

  std::string layout_;
  const Tensor& k_;
  const Tensor& v_;
  std::int64_t page_, heads_, d_;
};

inline Real fp8_scale(const Tensor& tensor, float scale) {
  return tensor.dtype() == Dtype::e4m3 || tensor.dtype() == Dtype::e5m2 ? scale : 1;
}

/// Answers for the tokens that `tokens_of(row, kv head)` lists, first to last.
template <class TokensOf>
Answer attention(const Case& c, const TensorList& inputs, std::int64_t page_size,
                 std::int64_t softcap, const TokensOf& tokens_of) {
  const Tensor& q = find(inputs, "q");
  const std::int64_t rows = q.shape()[0], heads = q.shape()[1], d = q.shape()[2];
  const std::int64_t group = heads / c.constant("hkv");
  const Pools pools(c, inputs, page_size);
  const bool one_tensor = c.id().find("layout=interleaved") != std::string::npos;
  const Tensor& k_tensor = find(inputs, one_tensor ? "kv_pages" : "k_pages");
  const Tensor& v_tensor = find(inputs, one_tensor ? "kv_pages" : "v_pages");
  const Real scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d)));
  const Real factor = scale * fp8_scale(k_tensor, 0.8125F);
  Answer answer{Tensor(Dtype::f64, q.shape()), Tensor(Dtype::f64, {rows, heads})};
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t head = 0; head < heads; ++head) {
      const std::vector<Token> tokens = tokens_of(row, head / group);
      const std::int64_t at = (row * heads + head) * d;
      WeightedSum sum(d);
      for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
        Real product = 0;
        for (std::int64_t i = d; i-- > 0;)
          product += element(q, at + i) * pools.k(*token, head / group, i);
        Real score = factor * product;
        if (softcap != 0) score = softcap * std::tanh(score / softcap);
        sum.add(score, [&](std::int64_t i) { return pools.v(*token, head / group, i); });
      }
      sum.store(answer.out, at, answer.lse, row * heads + head, fp8_scale(v_tensor, 1.1875F));
    }
  return answer;
}

}  // namespace parity::second_route
