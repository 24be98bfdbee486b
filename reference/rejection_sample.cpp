// Dual-pivot rejection as the contract says it, counting anew for every value that is judged.
#include "reference/rejection_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <string_view>

#include "datasets/errors.hpp"
#include "datasets/philox.hpp"

namespace parity {
namespace {

/// By construction none needs more.
constexpr std::int64_t kMostRounds = 31;

void require(std::string_view name, const Tensor& tensor, const Shape& shape, bool right_dtype,
             std::string_view dtype) {
  if (!right_dtype || tensor.shape() != shape)
    throw UsageError(fmt::format("rejection sampling reference: {} is {}, but must be {} of {}",
                                 name, tensor.type().to_string(), dtype,
                                 TensorType{Dtype::f32, shape}.to_string().substr(3)));
}

void check(const RejectionSampleProblem& problem) {
  const Shape& probs = problem.probs.shape();
  if (probs.size() != 2 || probs[1] < 1)
    throw UsageError(fmt::format("rejection sampling reference: probs is {}, but must be [B, V]",
                                 problem.probs.type().to_string()));
  const Shape rows = {probs[0]};
  const auto floating = [](const Tensor& tensor) { return is_floating(tensor.dtype()); };
  require("probs", problem.probs, probs, floating(problem.probs), "floating");
  require("draw", problem.draw, probs, floating(problem.draw), "floating");
  require("top_k", problem.top_k, rows, problem.top_k.dtype() == Dtype::i32, "i32");
  require("top_p", problem.top_p, rows, floating(problem.top_p), "floating");
  require("min_p", problem.min_p, rows, floating(problem.min_p), "floating");
  require("seed", problem.seed, rows, problem.seed.dtype() == Dtype::u64, "u64");
  require("step", problem.step, rows, problem.step.dtype() == Dtype::u64, "u64");
}

std::vector<double> values_of(const Tensor& tensor, std::int64_t row) {
  const std::int64_t count = tensor.shape()[1];
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = row * count; i < (row + 1) * count; ++i) values.push_back(tensor.at(i));
  return values;
}

/// Every value finite and not negative, some above 0.
bool is_sound(const std::vector<double>& values) {
  const bool finite = std::ranges::all_of(values, [](double v) { return v >= 0 && v < INFINITY; });
  return finite && std::ranges::any_of(values, [](double v) { return v > 0; });
}

std::vector<std::uint64_t> weights_of(const std::vector<double>& values) {
  const double max = std::ranges::max(values);
  std::vector<std::uint64_t> weights;
  weights.reserve(values.size());
  for (const double value : values) weights.push_back(rejection_weight(value, max));
  return weights;
}

/// Sum of the weights of those tokens whose value is above `low`.
std::uint64_t mass_above(const std::vector<double>& values,
                         const std::vector<std::uint64_t>& weights, double low) {
  std::uint64_t mass = 0;
  for (std::size_t i = 0; i < values.size(); ++i) mass += values[i] > low ? weights[i] : 0;
  return mass;
}

/// ⌊a·b / 2^64⌋ and the like need 128 bits.
__extension__ using Wide = unsigned __int128;

/// The filters of a row.
class KeepRules {
 public:
  KeepRules(const RejectionSampleProblem& problem, std::int64_t row,
            const std::vector<double>& values, const std::vector<std::uint64_t>& weights)
      : values_(values), weights_(weights), max_(std::ranges::max(values)) {
    const auto top_k = static_cast<std::int64_t>(problem.top_k.at(row));
    top_p_ = problem.top_p.at(row);
    min_p_ = problem.min_p.at(row);
    if (top_k > 0 && top_k < std::ssize(values)) top_k_ = top_k;
    std::uint64_t total = mass_above(values, weights, -1);
    if (problem.top_k_first && top_k_ > 0) {
      std::vector<double> sorted = values;
      std::ranges::nth_element(sorted, sorted.begin() + (top_k_ - 1), std::greater<>());
      const double kth = sorted[static_cast<std::size_t>(top_k_ - 1)];
      total = 0;
      for (std::size_t i = 0; i < values.size(); ++i) total += values[i] >= kth ? weights[i] : 0;
    }
    const double share = top_p_ > 0 && top_p_ < 1 ? std::floor(top_p_ * 0x1p32) : 0;
    limit_ = static_cast<std::uint64_t>(Wide{static_cast<std::uint64_t>(share)} * total >> 32);
  }

  bool keep(double v) const {
    const auto above = std::ranges::count_if(values_, [&](double value) { return value > v; });
    if (top_k_ > 0 && !(above < top_k_)) return false;
    if (top_p_ < 1 && !(mass_above(values_, weights_, v) <= limit_)) return false;
    if (min_p_ > 1) return v >= max_;
    if (min_p_ > 0) return v >= decode(Dtype::f32, encode(Dtype::f32, min_p_ * max_));
    return true;
  }

 private:
  const std::vector<double>& values_;
  const std::vector<std::uint64_t>& weights_;
  double max_;
  std::int64_t top_k_ = 0;  ///< 0: off
  double top_p_;
  double min_p_;
  std::uint64_t limit_ = 0;  ///< mass that may lie above a value that top_p keeps
};

double midpoint(double low, double high) {
  const std::uint64_t a = encode(Dtype::f32, low);
  const std::uint64_t b = encode(Dtype::f32, high);
  return decode(Dtype::f32, a + (b - a) / 2);
}

struct Drawn {
  std::int64_t token = -1;
  std::int64_t rounds = 0;
};

Drawn draw_token(const RejectionSampleProblem& problem, std::int64_t row) {
  const std::vector<double> values = values_of(problem.probs, row);
  const std::vector<double> draws = values_of(problem.draw, row);
  if (!is_sound(values) || !is_sound(draws)) return {};
  const std::vector<std::uint64_t> weights = weights_of(values);
  const std::vector<std::uint64_t> draw_weights = weights_of(draws);
  const KeepRules rules(problem, row, values, weights);
  const std::uint64_t seed = problem.seed.bits_at(row);
  const std::uint64_t step = problem.step.bits_at(row);
  const auto low32 = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  double low = 0;
  double high = std::ranges::max(values);
  for (std::int64_t round = 0; round < kMostRounds; ++round) {
    const std::uint64_t total = mass_above(values, draw_weights, low);
    if (total == 0) return {-1, round};
    const auto words =
        philox4x32({static_cast<std::uint32_t>(round), 1, low32(step), low32(step >> 32)},
                   {low32(seed), low32(seed >> 32)});
    const std::uint64_t uniform = std::uint64_t{words[0]} << 32 | words[1];
    const auto target = static_cast<std::uint64_t>(Wide{uniform} * total >> 64);
    std::size_t candidate = 0;
    for (std::uint64_t sum = 0; candidate < values.size(); ++candidate) {
      if (values[candidate] > low) sum += draw_weights[candidate];
      if (sum > target) break;
    }
    const double pivot0 = values[candidate];
    if (rules.keep(pivot0)) return {static_cast<std::int64_t>(candidate), round + 1};
    const double pivot1 = midpoint(pivot0, high);
    if (rules.keep(pivot1)) {
      low = pivot0;
      high = pivot1;
    } else {
      low = pivot1;
    }
  }
  return {-1, kMostRounds};
}

}  // namespace

std::uint64_t rejection_weight(double value, double max) {
  if (max == 0) return 0;
  return static_cast<std::uint64_t>(std::ldexp(value, 43 - std::ilogb(max)));
}

RejectionSampleReference rejection_sample(const RejectionSampleProblem& problem) {
  check(problem);
  RejectionSampleReference result;
  for (std::int64_t row = 0; row < problem.probs.shape()[0]; ++row) {
    const Drawn drawn = draw_token(problem, row);
    result.token.push_back(drawn.token);
    result.ok.push_back(drawn.token >= 0 ? 1 : 0);
    result.rounds.push_back(drawn.rounds);
  }
  return result;
}

}  // namespace parity
