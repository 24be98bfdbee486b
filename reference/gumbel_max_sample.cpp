// Scores every element that could be the best and keeps those that f32 arithmetic may confuse.
#include "reference/gumbel_max_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "datasets/errors.hpp"
#include "datasets/philox.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestF32 = std::numeric_limits<float>::max();
/// As an f32 holds it.
constexpr double kGreedyBelow = 1e-5f;

void check(const GumbelMaxProblem& problem) {
  const TensorType& logits = problem.logits.type();
  const auto require = [](const char* name, const TensorType& type, bool right) {
    if (!right)
      throw UsageError(fmt::format(
          "Gumbel-max reference: {} is {}, but logits must be floating [rows, vocabulary], "
          "temperature f32, seed and step u64 [rows]",
          name, type.to_string()));
  };
  require("logits", logits, is_floating(logits.dtype) && logits.shape.size() == 2);
  const Shape rows = {logits.shape[0]};
  const auto is = [&](const Tensor& tensor, Dtype dtype) {
    return tensor.type() == TensorType{dtype, rows};
  };
  require("temperature", problem.temperature.type(), is(problem.temperature, Dtype::f32));
  require("seed", problem.seed.type(), is(problem.seed, Dtype::u64));
  require("step", problem.step.type(), is(problem.step, Dtype::u64));
}

std::array<std::uint32_t, 4> words_of(std::uint64_t seed, std::uint64_t step, std::int64_t group) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  return philox4x32({static_cast<std::uint32_t>(group), 0, low(step), high(step)},
                    {low(seed), high(seed)});
}

/// What -ln(1 - v) > v makes of the leading zeros of the word: no noise is above it.
double noise_limit(std::uint32_t word) {
  return (std::countl_zero(word) + 1) * std::numbers::ln2;
}

/// By how much a score must be below `best` to be told from it in f32.
double margin(double best) {
  return std::max(1e-4, 0x1p-21 * std::abs(best));
}

struct Scored {
  double score;
  std::int64_t index;
};

/// Elements of a row come in ascending order.
class Contest {
 public:
  /// Whether a score of at most `limit` can still matter.
  bool matters(double limit) const {
    return contenders_.empty() || limit >= std::min(second_, best_ - margin(best_));
  }

  void enter(double score, std::int64_t index) {
    second_ = std::max(second_, std::min(best_, score));
    best_ = std::max(best_, score);
    contenders_.push_back({score, index});
    if (contenders_.size() <= many_) return;
    drop();
    many_ = std::max(many_, 2 * contenders_.size());  // where all tie, none goes
  }

  GumbelMaxRow result() {
    GumbelMaxRow row;
    if (contenders_.empty()) return row;
    drop();
    const auto first = std::ranges::find(contenders_, best_, &Scored::score);
    row.token = first->index;
    row.gap = best_ - second_;  // infinite without a second
    for (const Scored& other : contenders_) {
      if (other.index != row.token) row.rivals.push_back(other.index);
    }
    return row;
  }

 private:
  void drop() {
    std::erase_if(contenders_,
                  [this](const Scored& other) { return other.score < best_ - margin(best_); });
  }

  std::size_t many_ = 64;
  double best_ = -kInfinity;
  double second_ = -kInfinity;  ///< equal to best_ where two are
  std::vector<Scored> contenders_;
};

/// The largest value that is above -infinity, the first of equals.
GumbelMaxRow largest(const Tensor& logits, std::int64_t begin, std::int64_t vocabulary) {
  GumbelMaxRow row;
  double best = -kInfinity;
  for (std::int64_t i = 0; i < vocabulary; ++i) {
    const double logit = logits.at(begin + i);
    if (!(logit > best)) continue;
    best = logit;
    row.token = i;
  }
  return row;
}

/// Of a row without NaN and +infinity.
GumbelMaxRow drawn(const GumbelMaxProblem& problem, std::int64_t row, const GumbelMaxRule& rule) {
  const std::int64_t vocabulary = problem.logits.shape()[1];
  const std::uint64_t seed = problem.seed.bits_at(row);
  const std::uint64_t step = problem.step.bits_at(row) + rule.step_offset;
  const double temperature = rule.divides ? problem.temperature.at(row) : 1.0;
  Contest contest;
  std::array<std::uint32_t, 4> words = {};
  for (std::int64_t i = 0; i < vocabulary; ++i) {
    if (i % 4 == 0) words = words_of(seed, step, i / 4);
    const double logit = problem.logits.at(row * vocabulary + i);
    if (!(logit > -kInfinity)) continue;
    const std::uint32_t word = words[static_cast<std::size_t>(i % 4)];
    const double quotient = std::clamp(logit / temperature, -kLargestF32, kLargestF32);
    // Rounding the noise moves it by 1/16 at most.
    if (!contest.matters(quotient + noise_limit(word) + 0.1)) continue;
    double noise = rule.draws ? gumbel_noise(word) : 0.0;
    if (rule.noise_dtype) noise = decode(*rule.noise_dtype, encode(*rule.noise_dtype, noise));
    contest.enter(quotient + noise, i);
  }
  return contest.result();
}

}  // namespace

std::uint32_t gumbel_word(std::uint64_t seed, std::uint64_t step, std::int64_t index) {
  return words_of(seed, step, index / 4)[static_cast<std::size_t>(index % 4)];
}

double gumbel_noise(std::uint32_t word) {
  const float uniform = (static_cast<float>(word) + 0.5f) * 0x1p-32f;
  const double v = std::min(uniform, 1.0f - 0x1p-24f);
  return -std::log(-std::log1p(-v));
}

GumbelMaxRow gumbel_max_sample_row(const GumbelMaxProblem& problem, std::int64_t row,
                                   const GumbelMaxRule& rule) {
  check(problem);
  const std::int64_t vocabulary = problem.logits.shape()[1];
  const std::int64_t begin = row * vocabulary;
  const double temperature = problem.temperature.at(row);
  if (!(temperature >= 0) || temperature == kInfinity) return {};
  bool infinite = false;
  for (std::int64_t i = begin; i < begin + vocabulary; ++i) {
    const double logit = problem.logits.at(i);
    if (std::isnan(logit) && !rule.skips_nan) return {};
    infinite = infinite || logit == kInfinity;
  }
  const bool greedy = temperature < kGreedyBelow && rule.divides;
  if (infinite || greedy) return largest(problem.logits, begin, vocabulary);
  return drawn(problem, row, rule);
}

}  // namespace parity
