// Recipes of the operation gumbel_max_sample: datasets/SCHEMA.md says the same for other languages.
#include "harness/kernels/gumbel_max_sample_inputs.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "datasets/fill.hpp"
#include "harness/kernels/sampler_case.hpp"
#include "reference/gumbel_max_sample.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kTemperatures = {0.3, 0.5, 0.7, 0.85, 1.0, 1.1, 1.25, 1.5};
constexpr double kGreedy = 1e-6;
/// As wide as the logits of a model that is unsure.
constexpr double kLogitScale = 2.0;
/// Of those that are to lose a duel, and what the duellists' scores are close to.
constexpr double kDullScale = 0.25;
constexpr double kDuelScore = 16.0;
/// Of what they had, so that f32 arithmetic tells most of them apart.
constexpr double kDuelSpread = 0x1p-5;
constexpr std::size_t kDuellists = 8;
constexpr std::int64_t kFewestDuelRows = 64;
constexpr std::int64_t kFewestDuelTokens = 256;

/// The tensors of a case in the making.
struct Draft {
  Tensor logits, temperature, seed, step;

  std::int64_t rows() const { return logits.shape()[0]; }
  std::int64_t vocabulary() const { return logits.shape()[1]; }
  void set(std::int64_t row, std::int64_t token, double value) {
    logits.set(row * vocabulary() + token, value);
  }
  void set_all(std::int64_t row, double value) {
    for (std::int64_t token = 0; token < vocabulary(); ++token) set(row, token, value);
  }
};

/// The tokens with the smallest words, which have the loudest noise.
std::vector<std::int64_t> duellists(const Draft& draft, std::int64_t row) {
  std::vector<std::pair<std::uint32_t, std::int64_t>> loudest;
  const std::uint64_t seed = draft.seed.bits_at(row);
  const std::uint64_t step = draft.step.bits_at(row);
  for (std::int64_t token = 0; token < draft.vocabulary(); ++token)
    loudest.emplace_back(gumbel_word(seed, step, token), token);
  const std::size_t count = std::min(kDuellists, loudest.size());
  std::ranges::partial_sort(loudest, loudest.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<std::int64_t> tokens;
  for (std::size_t i = 0; i < count; ++i) tokens.push_back(loudest[i].second);
  return tokens;
}

/// Logits that take their noise back, as far as ln_of and the dtype know it: the scores of eight
/// tokens lie close together, so that noise that is a little off chooses another.
void place_duel(Draft& draft, std::int64_t row) {
  for (const std::int64_t token : duellists(draft, row)) {
    const std::uint64_t word = gumbel_word(draft.seed.bits_at(row), draft.step.bits_at(row), token);
    const double noise = ln_of(std::uint64_t{1} << 33) - ln_of(2 * word + 1);
    const double logit = draft.logits.at(row * draft.vocabulary() + token);
    draft.set(row, token, draft.temperature.at(row) * (kDuelScore + kDuelSpread * logit - noise));
  }
}

void place_edge(Draft& draft, std::int64_t row) {
  const std::int64_t last = draft.vocabulary() - 1;
  const std::int64_t middle = draft.vocabulary() / 2;
  switch (row % 12) {
    case 1:
      return draft.set(row, middle, kNan);
    case 2:
      draft.set(row, middle, kInfinity);
      return draft.set(row, last, kInfinity);
    case 3:
      for (std::int64_t token = 0; token <= last; ++token)
        if (token % 7 != row % 7) draft.set(row, token, -kInfinity);
      return;
    case 4:
      return draft.set_all(row, -kInfinity);
    case 5:
      return draft.temperature.set(row, -0.5);
    case 6:
      return draft.temperature.set(row, kNan);
    case 7:
      return draft.temperature.set(row, kInfinity);
    case 8:
      draft.temperature.set(row, 0);
      draft.set(row, middle, 9);
      return draft.set(row, last, 9);
    case 9:
      draft.set(row, last, kInfinity);
      return draft.set(row, middle, kNan);
    case 10:
      draft.set_all(row, -kInfinity);
      return draft.set(row, last, -6e4);
    case 11:
      draft.temperature.set(row, kGreedy);
      return draft.set(row, last, kNan);
    default:
      return;
  }
}

Draft draft_of(const Case& c) {
  const std::int64_t rows = c.constant("b");
  TensorList streams = sampler_streams(c);
  Draft draft{.logits = Tensor(c.dtype("logits"), {rows, c.constant("v")}),
              .temperature = Tensor(Dtype::f32, {rows}),
              .seed = std::move(find(streams, "seed")),
              .step = std::move(find(streams, "step"))};
  if (c.recipe != "flat")
    fill_normal(draft.logits, c.data_seed(), "logits",
                c.recipe == "duel" ? kDullScale : kLogitScale);
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool greedy = c.recipe == "plain" && row % 16 == 5;
    const double temperature = kTemperatures[static_cast<std::size_t>(row) % kTemperatures.size()];
    draft.temperature.set(row, greedy ? kGreedy : temperature);
  }
  return draft;
}

}  // namespace

std::vector<std::string> gumbel_max_sample_recipes() {
  return {"plain", "flat", "duel", "edges"};
}

std::vector<Requirement> gumbel_max_sample_requirements() {
  // The upper ends bound what a mistyped id may ask of memory, not what the kernel can do.
  constexpr std::int64_t kMostTokens = 1 << 20;
  constexpr std::int64_t kMostRows = 1 << 16;
  return {{{"v", "b"},
           "v must be 1 to 1048576, b 1 to 65536",
           [](const Case& c) {
             const std::int64_t v = c.constant("v");
             const std::int64_t b = c.constant("b");
             return v >= 1 && v <= kMostTokens && b >= 1 && b <= kMostRows;
           }},
          {{"splits"},
           "splits must be auto or 1 to 64",
           [](const Case& c) { return c.constant("splits") <= 64; }},
          {{"v", "b", "recipe"},
           "a duel needs v of 256 and b of 64 at least: a few rows cannot tell noise that is a "
           "little off",
           [](const Case& c) {
             return c.recipe != "duel" ||
                    (c.constant("v") >= kFewestDuelTokens && c.constant("b") >= kFewestDuelRows);
           }}};
}

std::vector<InputType> gumbel_max_sample_input_types(const Case& c) {
  const Shape rows = {c.constant("b")};
  return {{"logits", {c.dtype("logits"), {c.constant("b"), c.constant("v")}}},
          {"temperature", {Dtype::f32, rows}},
          {"seed", {Dtype::u64, rows}},
          {"step", {Dtype::u64, rows}}};
}

TensorList gumbel_max_sample_inputs(const Case& c) {
  require_valid(c);
  Draft draft = draft_of(c);
  for (std::int64_t row = 0; row < draft.rows(); ++row) {
    if (c.recipe == "duel") place_duel(draft, row);
    if (c.recipe == "edges") place_edge(draft, row);
  }
  TensorList inputs;
  inputs.push_back({"logits", std::move(draft.logits)});
  inputs.push_back({"temperature", std::move(draft.temperature)});
  inputs.push_back({"seed", std::move(draft.seed)});
  inputs.push_back({"step", std::move(draft.step)});
  return inputs;
}

}  // namespace parity
