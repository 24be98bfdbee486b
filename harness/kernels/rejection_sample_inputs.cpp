// Recipes of the operation rejection_sample: datasets/SCHEMA.md says the same for other languages.
#include "harness/kernels/rejection_sample_inputs.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "datasets/fill.hpp"
#include "harness/kernels/sampler_case.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSpread = 3.0;
/// Exponent that keeps values of the widest spread in the range of f16.
constexpr int kScale = -12;
constexpr int kBesideAPeak = -18;
constexpr std::array kTemper = {0.5, 1.25};
constexpr std::uint32_t kLevels = 5;
constexpr double kTiny = 0x1p-20;

/// 2^exponent, with the part between whole exponents linear: exact, and close to a softmax.
double power(double exponent) {
  const double whole = std::floor(exponent);
  return std::ldexp(1.0 + (exponent - whole), static_cast<int>(whole));
}

struct RowFilters {
  double top_k, top_p, min_p;
};

/// All eight combinations of these three on and off.
RowFilters switched(std::int64_t row, const RowFilters& on) {
  const std::int64_t off = row % 8;
  return {off & 1 ? 0 : on.top_k, off & 2 ? 1 : on.top_p, off & 4 ? 0 : on.min_p};
}

/// All hundred combinations of extremes.
RowFilters extremes(std::int64_t row, double v) {
  const std::array<double, 5> top_k = {1, 0, v - 1, v, v + 1};
  const std::array<double, 5> top_p = {2, 0, kTiny, 1, kNan};
  const std::array<double, 4> min_p = {0, 1, 2, kNan};
  const auto a = static_cast<std::size_t>(row % 5);
  const auto b = static_cast<std::size_t>(row / 5 % 5);
  const auto c = static_cast<std::size_t>(row / 25 % 4);
  return {top_k[a], top_p[(a + b) % 5], min_p[(a + b + c) % 4]};
}

/// The tensors of a case in the making.
class Draft {
 public:
  explicit Draft(const Case& c)
      : c_(c),
        seed_(c.data_seed()),
        rows_(c.constant("b")),
        v_(c.constant("v")),
        probs_(c.dtype("probs"), {rows_, v_}),
        draw_(c.dtype("probs"), {has_draw() ? rows_ : 0, v_}) {}

  TensorList make() {
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t i = 0; i < v_; ++i) place_element(row, i);
      if (c_.recipe == "peaked")
        probs_.set(row * v_ + random_word(seed_, stream_of("peak"), index(row)) % v_, 1.0);
      if (c_.recipe == "invalid") spoil(row);
    }
    TensorList inputs;
    inputs.push_back({"probs", std::move(probs_)});
    if (has_draw()) inputs.push_back({"draw", std::move(draw_)});
    add_filters(inputs);
    for (NamedTensor& stream : sampler_streams(c_)) inputs.push_back(std::move(stream));
    return inputs;
  }

 private:
  static std::uint64_t index(std::int64_t i) { return static_cast<std::uint64_t>(i); }
  bool has_draw() const { return c_.constant("draw") == kDrawGiven; }

  double normal(std::uint32_t stream, std::int64_t element) const {
    return kSpread * normal_element(seed_, stream, index(element));
  }

  void place_element(std::int64_t row, std::int64_t i) {
    const std::int64_t element = row * v_ + i;
    if (c_.recipe == "ties" || c_.recipe == "flat") {
      const std::uint32_t level =
          c_.recipe == "flat" ? 0 : random_word(seed_, probs_stream_, index(element)) % kLevels;
      probs_.set(element, (1.0 + level) / 8);
      if (has_draw()) draw_.set(element, std::ldexp(power(normal(draw_stream_, element)), kScale));
      return;
    }
    const double exponent = normal(probs_stream_, element);
    probs_.set(element, std::ldexp(power(exponent), c_.recipe == "peaked" ? kBesideAPeak : kScale));
    if (has_draw())
      draw_.set(element, std::ldexp(power(kTemper[index(row % 2)] * exponent), kScale));
  }

  void spoil(std::int64_t row) {
    const std::int64_t first = row * v_;
    switch (row % 8) {
      case 0:
        return probs_.set(first, kNan);
      case 2:
        return probs_.set(first + v_ / 2, kInfinity);
      case 3:
        return probs_.set(first + v_ - 1, -0x1p-10);
      case 4:
        for (std::int64_t i = 0; i < v_; ++i) probs_.set(first + i, 0);
        return;
      case 5:
        if (has_draw()) draw_.set(first + v_ - 1, kNan);
        return;
      case 6:
        return probs_.set(first, -0.0);
      case 7:
        for (std::int64_t i = 0; has_draw() && i < v_; ++i) draw_.set(first + i, 0);
        return;
      default:
        return;
    }
  }

  RowFilters filters(std::int64_t row) const {
    const auto v = static_cast<double>(v_);
    if (c_.recipe == "extremes") return extremes(row, v);
    if (c_.recipe == "ties") return switched(row, {std::floor(v / 4) + 1, 0.3, 0.75});
    if (row % 16 < 8) return switched(row, {5, 0.25, 0.75});  // strict: what is dropped shows
    return switched(row, {50, 0.9, 0.05});
  }

  void add_filters(TensorList& inputs) const {
    Tensor top_k(Dtype::i32, {rows_});
    Tensor top_p(c_.dtype("filter"), {rows_});
    Tensor min_p(c_.dtype("filter"), {rows_});
    for (std::int64_t row = 0; row < rows_; ++row) {
      const RowFilters filter = filters(row);
      top_k.set(row, filter.top_k);
      top_p.set(row, filter.top_p);
      min_p.set(row, filter.min_p);
    }
    inputs.push_back({"top_k", std::move(top_k)});
    inputs.push_back({"top_p", std::move(top_p)});
    inputs.push_back({"min_p", std::move(min_p)});
  }

  const Case& c_;
  const std::uint64_t seed_;
  const std::int64_t rows_, v_;
  const std::uint32_t probs_stream_ = stream_of("probs");
  const std::uint32_t draw_stream_ = stream_of("draw");
  Tensor probs_, draw_;
};

}  // namespace

std::vector<std::string> rejection_sample_recipes() {
  return {"ordinary", "extremes", "ties", "flat", "peaked", "invalid"};
}

std::vector<std::string> rejection_sample_degenerate_recipes() {
  return {"invalid"};
}

std::vector<Requirement> rejection_sample_requirements() {
  // The upper ends of v and of splits are the kernel's; the others bound what a mistyped id may ask
  // for.
  constexpr std::int64_t kMostTokens = 1 << 18;
  constexpr std::int64_t kMostElements = 1 << 24;
  constexpr std::int64_t kMostSplits = 64;
  constexpr std::int64_t kMostBlocks = 2048;
  return {{{"v", "b"},
           "v must be 1 to 262144, b at least 1, and v·b at most 16777216",
           [](const Case& c) {
             const std::int64_t v = c.constant("v");
             const std::int64_t b = c.constant("b");
             return v >= 1 && v <= kMostTokens && b >= 1 && b <= kMostElements / v;
           }},
          {{"b", "splits"},
           "splits must be auto or 1 to 64, and b·splits at most 2048 where it is more than 1",
           [](const Case& c) {
             const std::int64_t splits = c.constant("splits");
             return splits <= 1 ||
                    (splits <= kMostSplits && c.constant("b") <= kMostBlocks / splits);
           }}};
}

std::vector<InputType> rejection_sample_input_types(const Case& c) {
  const Shape rows = {c.constant("b")};
  const TensorType probs{c.dtype("probs"), {c.constant("b"), c.constant("v")}};
  std::vector<InputType> types = {{"probs", probs}};
  if (c.constant("draw") == kDrawGiven) types.push_back({"draw", probs});
  types.push_back({"top_k", {Dtype::i32, rows}});
  types.push_back({"top_p", {c.dtype("filter"), rows}});
  types.push_back({"min_p", {c.dtype("filter"), rows}});
  types.push_back({"seed", {Dtype::u64, rows}});
  types.push_back({"step", {Dtype::u64, rows}});
  return types;
}

TensorList rejection_sample_inputs(const Case& c) {
  require_valid(c);
  return Draft(c).make();
}

}  // namespace parity
