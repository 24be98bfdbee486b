// An independent hand for the samplers: scores as long doubles from the last token to the first,
// and the kept set of rejection by sorting, against what the references put into smoke's packs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "datasets/philox.hpp"
#include "harness/pack_builder.hpp"
#include "tests/second_route.hpp"

namespace parity {
namespace {

using second_route::element;
using second_route::integer;
using second_route::Real;
__extension__ using Wide = unsigned __int128;

std::uint64_t word64(const Tensor& tensor, std::int64_t index) {
  std::uint64_t value = 0;
  std::memcpy(&value, tensor.bytes().data() + 8 * index, sizeof value);
  return value;
}

std::array<std::uint32_t, 4> words(const TensorList& inputs, std::int64_t row, std::int64_t counter,
                                   std::uint32_t second) {
  const std::uint64_t step = word64(find(inputs, "step"), row);
  const std::uint64_t seed = word64(find(inputs, "seed"), row);
  return philox4x32({static_cast<std::uint32_t>(counter), second, static_cast<std::uint32_t>(step),
                     static_cast<std::uint32_t>(step >> 32)},
                    {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

std::int64_t gumbel_token(const TensorList& inputs, std::int64_t row) {
  const Tensor& logits = find(inputs, "logits");
  const std::int64_t v = logits.shape()[1];
  const Real temperature = element(find(inputs, "temperature"), row);
  if (std::isnan(temperature) || temperature < 0 || std::isinf(temperature)) return -1;
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  const Real largest = std::numeric_limits<float>::max();
  std::int64_t token = -1;
  Real best = -kInfinity;
  for (std::int64_t i = v; i-- > 0;) {
    const Real logit = element(logits, row * v + i);
    if (std::isnan(logit)) return -1;
    if (logit == -kInfinity) continue;
    Real score = logit;
    if (temperature >= 1e-5F && logit != kInfinity) {
      const std::uint32_t word = words(inputs, row, i / 4, 0)[static_cast<std::size_t>(i % 4)];
      const float uniform = (static_cast<float>(word) + 0.5F) * 0x1p-32F;
      const Real u = std::min(uniform, 1 - 0x1p-24F);
      score = std::clamp(logit / temperature, -largest, largest) - std::log(-std::log(1 - u));
    }
    if (score < best) continue;
    best = score;
    token = i;
  }
  return token;
}

/// One row of values above 0, each with its weight.
struct Weighed {
  explicit Weighed(const Tensor& values, std::int64_t row) {
    const std::int64_t v = values.shape()[1];
    for (std::int64_t i = 0; i < v; ++i) value.push_back(element(values, row * v + i));
    const Real largest = *std::ranges::max_element(value);
    sound = largest > 0 && std::ranges::all_of(value, [](Real x) {
              return x >= 0 && x < std::numeric_limits<Real>::infinity();
            });
    if (!sound) return;
    for (const Real x : value)
      weight.push_back(static_cast<std::uint64_t>(
          std::floor(std::ldexp(x, 43 - static_cast<int>(std::floor(std::log2(largest)))))));
  }

  std::vector<Real> value;
  std::vector<std::uint64_t> weight;
  bool sound = false;
};

/// The least value that every filter keeps: with the values sorted, each filter keeps a prefix.
Real least_kept(const Weighed& probs, const TensorList& inputs, std::int64_t row,
                bool top_k_first) {
  std::vector<std::size_t> order(probs.value.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater(), [&](std::size_t i) { return probs.value[i]; });
  const auto value = [&](std::size_t place) { return probs.value[order[place]]; };
  const std::int64_t k = integer(find(inputs, "top_k"), row);
  const Real p = element(find(inputs, "top_p"), row), m = element(find(inputs, "min_p"), row);
  Real by_k = 0;
  if (k > 0 && k < std::ssize(order)) by_k = value(static_cast<std::size_t>(k) - 1);
  Real by_p = 0;
  if (p < 1) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
      if (!top_k_first || probs.value[i] >= by_k) total += probs.weight[i];
    const auto share = static_cast<std::uint64_t>(std::floor(std::ldexp(std::max<Real>(p, 0), 32)));
    const auto limit = static_cast<std::uint64_t>(Wide{share} * total >> 32);
    std::uint64_t above = 0;
    for (std::size_t i = 0; i < order.size() && above <= limit;) {
      by_p = value(i);
      for (; i < order.size() && value(i) == by_p; ++i) above += probs.weight[order[i]];
    }
  }
  Real by_m = 0;
  if (m > 1)
    by_m = value(0);
  else if (m > 0)
    by_m = static_cast<float>(m * value(0));
  return std::max({by_k, by_p, by_m});
}

Real midpoint(Real low, Real high) {
  const auto bits = [](Real x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); };
  return std::bit_cast<float>(std::midpoint(bits(low), bits(high)));
}

struct Drawn {
  std::int64_t token = -1, rounds = 0;
};

Drawn rejection_drawn(const Case& c, const TensorList& inputs, std::int64_t row) {
  const bool tempered = c.id().find("draw=probs") != std::string::npos;
  const Weighed probs(find(inputs, "probs"), row);
  const Weighed draw(find(inputs, tempered ? "draw" : "probs"), row);
  if (!probs.sound || !draw.sound) return {};
  const Real least =
      least_kept(probs, inputs, row, c.id().find("order=top_k_first") != std::string::npos);
  Real low = 0, high = *std::ranges::max_element(probs.value);
  for (Drawn drawn;; ++drawn.rounds) {
    std::vector<Wide> running;  // the target falls below the first that exceeds it
    Wide sum = 0;
    for (std::size_t i = 0; i < probs.value.size(); ++i)
      running.push_back(sum += probs.value[i] > low ? draw.weight[i] : 0);
    if (sum == 0) return drawn;
    const auto word = words(inputs, row, drawn.rounds, 1);
    const Wide target = (Wide{word[0]} << 32 | word[1]) * sum >> 64;
    const auto candidate = std::ranges::upper_bound(running, target) - running.begin();
    const Real value = probs.value[static_cast<std::size_t>(candidate)];
    if (value >= least) return {candidate, drawn.rounds + 1};
    const Real middle = midpoint(value, high);
    if (middle >= least) {
      low = value;
      high = middle;
    } else {
      low = middle;
    }
  }
}

std::vector<Case> smoke_of(const std::string& operation) {
  std::vector<Case> cases = suite_cases(registry(), Suite::smoke);
  std::erase_if(cases, [&](const Case& c) { return c.spec->operation != operation; });
  return cases;
}

/// Elements of an output by which `got` is not what the pack allows.
std::int64_t wrong(const PackCase& reference, const std::string& name,
                   const std::vector<std::int64_t>& got) {
  const auto output = std::ranges::find(reference.outputs, name, &PackOutput::name);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < output->type.elements(); ++i) {
    const auto value = static_cast<double>(got[static_cast<std::size_t>(i)]);
    const double other = output->bound->at(i);
    count += value == output->expected->at(i) || value == other || std::isnan(other) ? 0 : 1;
  }
  return count;
}

TEST(SecondRouteOfSamplersTest, EveryGumbelTokenIsTheOneWithTheLargestScore) {
  const std::vector<Case> cases = smoke_of("gumbel_max_sample");
  ASSERT_GE(cases.size(), 2u);
  for (const Case& c : cases) {
    const TensorList inputs = c.spec->inputs(c);
    std::vector<std::int64_t> tokens, ok;
    for (std::int64_t row = 0; row < c.constant("b"); ++row) {
      tokens.push_back(gumbel_token(inputs, row));
      ok.push_back(tokens.back() >= 0 ? 1 : 0);
    }
    const PackCase reference = compute_case(c);
    EXPECT_EQ(wrong(reference, "token", tokens), 0) << c.id();
    EXPECT_EQ(wrong(reference, "ok", ok), 0) << c.id();
    ++tokens.front();
    EXPECT_EQ(wrong(reference, "token", tokens), 1) << "the comparison can fail";
  }
}

TEST(SecondRouteOfSamplersTest, EveryRejectionTokenAndRoundIsThatOfTheSortedRow) {
  const std::vector<Case> cases = smoke_of("rejection_sample");
  ASSERT_GE(cases.size(), 2u);
  for (const Case& c : cases) {
    const TensorList inputs = c.spec->inputs(c);
    std::vector<std::int64_t> tokens, ok, rounds;
    for (std::int64_t row = 0; row < c.constant("b"); ++row) {
      const Drawn drawn = rejection_drawn(c, inputs, row);
      tokens.push_back(drawn.token);
      ok.push_back(drawn.token >= 0 ? 1 : 0);
      rounds.push_back(drawn.rounds);
    }
    const PackCase reference = compute_case(c);
    EXPECT_EQ(wrong(reference, "token", tokens), 0) << c.id();
    EXPECT_EQ(wrong(reference, "ok", ok), 0) << c.id();
    EXPECT_EQ(wrong(reference, "rounds", rounds), 0) << c.id();
    ++rounds.front();
    EXPECT_EQ(wrong(reference, "rounds", rounds), 1) << "the comparison can fail";
  }
}

}  // namespace
}  // namespace parity
