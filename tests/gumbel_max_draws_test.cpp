// gumbel_max_sample draws from the distribution it says, and faults that change it are rejected.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "datasets/fill.hpp"
#include "datasets/philox.hpp"
#include "tests/chi_square.hpp"
#include "tests/gumbel_max_run.hpp"
#include "tests/test_home.hpp"

namespace parity {
namespace {

/// Of all right samplers, one in a million fails some test of this file that must pass.
constexpr double kFamilyAlarm = 1e-6;
constexpr int kTestsThatPass = 8;
constexpr double kAlarm = kFamilyAlarm / kTestsThatPass;

bool on_gpu() {
  return test::test_backend() == BackendKind::cuda;
}

/// Draws of one row's distribution, each with a step of its own.
struct Draws {
  std::vector<double> logits;
  double temperature = 1;
  std::uint64_t seed = 0;

  /// Proportional to exp(logit / temperature), summing to 1.
  std::vector<double> probability() const {
    std::vector<double> p;
    double sum = 0;
    for (const double logit : logits) sum += p.emplace_back(std::exp(logit / temperature));
    for (double& value : p) value /= sum;
    return p;
  }

  GumbelProblem problem(Dtype dtype, std::int64_t rows, std::uint64_t first_step) const {
    GumbelProblem problem(dtype, rows, std::ssize(logits));
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t token = 0; token < std::ssize(logits); ++token)
        problem.set(row, token, logits[static_cast<std::size_t>(token)]);
      problem.temperature.set(row, temperature);
      problem.set_seed(row, seed);
      problem.set_step(row, first_step + static_cast<std::uint64_t>(row));
    }
    return problem;
  }

  /// How often the reference draws each token.
  std::vector<std::int64_t> count(std::int64_t draws, const GumbelMaxRule& rule = {}) const {
    std::vector<std::int64_t> counts(logits.size());
    GumbelProblem one = problem(Dtype::f32, 1, 0);
    for (std::int64_t draw = 0; draw < draws; ++draw) {
      one.set_step(0, static_cast<std::uint64_t>(draw));
      const GumbelMaxRow row =
          gumbel_max_sample_row({one.logits, one.temperature, one.seed, one.step}, 0, rule);
      ++counts[static_cast<std::size_t>(row.token)];
    }
    return counts;
  }
};

/// Exact in every dtype.
std::vector<double> uneven_logits() {
  return {0, 1.5, -1, 0.25, 2, -2.5, 0.5, 0.5, -0.75, 1, -4, 3, 0, 1.25, -1.5, 2.5, -0.25};
}

/// The figures are recorded as `name`.
void expect_distribution(const std::string& name, const std::vector<std::int64_t>& counts,
                         const Draws& draws) {
  const ChiSquare test = chi_square(counts, draws.probability());
  EXPECT_GT(test.p, kAlarm) << "chi-square " << test.statistic << " of " << test.freedom;
  testing::Test::RecordProperty(
      name, words(test, std::accumulate(counts.begin(), counts.end(), std::int64_t{0})));
}

void expect_rejected(const std::vector<std::int64_t>& counts, const Draws& draws) {
  const ChiSquare test = chi_square(counts, draws.probability());
  EXPECT_LT(test.p, kAlarm) << "chi-square " << test.statistic << " of " << test.freedom;
}

double in_bf16(std::uint32_t word) {
  return decode(Dtype::bf16, encode(Dtype::bf16, gumbel_noise(word)));
}

/// The kernel's tokens are the reference's wherever that can be asked; so the many draws are the
/// reference's, and on a GPU as many are the kernel's too.
TEST(GumbelMaxDrawsTest, AMillionDrawsOfTheReferenceAreOfTheDistribution) {
  for (const double temperature : {0.5, 1.0, 1.7}) {
    const Draws draws{uneven_logits(), temperature, 77};
    expect_distribution(fmt::format("temperature_{}", temperature), draws.count(340000), draws);
  }
}

TEST(GumbelMaxDrawsTest, DrawsOfTheKernelAreOfTheDistribution) {
  GumbelRun run;
  const std::int64_t rows = on_gpu() ? 1 << 19 : 1 << 12;
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    const Draws draws{uneven_logits(), 0.7, 1000};
    const GumbelProblem problem = draws.problem(dtype, rows, 0);
    const Sampled got = run.sample(problem);
    std::vector<std::int64_t> counts(draws.logits.size());
    for (const std::int64_t token : got.token) ++counts.at(static_cast<std::size_t>(token));
    expect_distribution(std::string(name(dtype)), counts, draws);
    const Checked checked = expect_sampled(problem, got);
    EXPECT_GE(checked.rows, rows * 99 / 100);
    RecordProperty(fmt::format("compared_{}", name(dtype)),
                   fmt::format("{} of {} rows, the closest with a gap of {:.3g}", checked.rows,
                               rows, checked.closest));
  }
}

/// Seeds are as good as steps.
TEST(GumbelMaxDrawsTest, DrawsOfManySeedsAreOfTheDistribution) {
  GumbelRun run;
  const std::int64_t rows = on_gpu() ? 1 << 19 : 1 << 12;
  const Draws draws{uneven_logits(), 1, 0};
  GumbelProblem problem = draws.problem(Dtype::f32, rows, 0);
  for (std::int64_t row = 0; row < rows; ++row) {
    problem.set_step(row, 5);
    problem.set_seed(row, static_cast<std::uint64_t>(row) << 20);
  }
  std::vector<std::int64_t> counts(draws.logits.size());
  for (const std::int64_t token : run.sample(problem).token)
    ++counts.at(static_cast<std::size_t>(token));
  expect_distribution("seeds", counts, draws);
}

TEST(GumbelMaxDrawsTest, ATemperatureThatIsIgnoredIsRejected) {
  const Draws draws{uneven_logits(), 0.7, 77};
  expect_rejected(draws.count(1 << 12, {.divides = false}), draws);
}

TEST(GumbelMaxDrawsTest, NoiseThatIsDroppedIsRejected) {
  const Draws draws{uneven_logits(), 0.7, 77};
  expect_rejected(draws.count(1 << 10, {.draws = false}), draws);
}

/// Rounded noise ties, and of ties the first wins: of four equal logits the first two are drawn
/// more often, which takes many draws to see.
TEST(GumbelMaxDrawsTest, NoiseRoundedToBf16IsRejected) {
  constexpr std::int64_t kDraws = 12000000;
  std::int64_t exact = 0, rounded = 0;  // draws of the first two
  for (std::int64_t step = 0; step < kDraws; ++step) {
    const auto words = philox4x32({0, 0, static_cast<std::uint32_t>(step), 0}, {78, 0});
    std::size_t loudest = 0;
    for (std::size_t i = 1; i < 4; ++i) loudest = words[i] < words[loudest] ? i : loudest;
    // What rounds to the same noise is close to the smallest word.
    const std::uint64_t close = std::uint64_t{words[loudest]} + words[loudest] / 8;
    std::size_t first = loudest;
    for (std::size_t i = 0; i < loudest; ++i)
      if (words[i] <= close && in_bf16(words[i]) == in_bf16(words[loudest])) {
        first = i;
        break;
      }
    exact += loudest < 2 ? 1 : 0;
    rounded += first < 2 ? 1 : 0;
  }
  EXPECT_GT(chi_square({exact, kDraws - exact}, {0.5, 0.5}).p, kAlarm);
  EXPECT_LT(chi_square({rounded, kDraws - rounded}, {0.5, 0.5}).p, kAlarm);
}

/// C1: on a grid of 23 bits v is 0 for words below 2^9, and the noise infinite. With seed 9 token 2
/// first has such a word at step 615532: on that grid it is drawn once in as many draws although it
/// has probability e^-36 / 3.
TEST(GumbelMaxDrawsTest, AGridThatReachesTheEndIsRejected) {
  constexpr std::uint64_t kStep = 615532;
  const std::uint32_t word = gumbel_word(9, kStep, 2);
  const float on_grid = static_cast<float>(word >> 9) * 0x1p-23f;
  EXPECT_EQ(-std::log(-std::log1p(-on_grid)) - 36, std::numeric_limits<float>::infinity());
  const double chance_of_one = static_cast<double>(kStep + 1) * std::exp(-36.0) / 3;
  EXPECT_LT(chance_of_one, kAlarm) << "drawing it would be rejected";
  GumbelRun run;
  const Draws draws{{0, 0, -36, 0}, 1, 9};
  EXPECT_NE(run.sample(draws.problem(Dtype::f32, 1, kStep)).token[0], 2);
}

/// C6.
TEST(GumbelMaxDrawsTest, EveryStepDrawsAnewAndTheSameStepTheSame) {
  GumbelRun run;
  GumbelProblem problem(Dtype::bf16, 64, 4096);
  const Sampled first = run.sample(problem);
  EXPECT_EQ(run.sample(problem), first) << "nothing is carried from call to call";
  EXPECT_GE((std::set<std::int64_t>(first.token.begin(), first.token.end()).size()), 60u)
      << "of 64 steps";
  // Low and high words of seed and step all count, and none for another.
  std::set<std::int64_t> tokens;
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> draws = {
      {1, 0}, {1ull << 32, 0}, {0, 1}, {0, 1ull << 32}, {0, 0}, {1, 1}, {~0ull, ~0ull}};
  GumbelProblem halves(Dtype::bf16, std::ssize(draws), 4096);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    halves.set_seed(static_cast<std::int64_t>(i), draws[i].first);
    halves.set_step(static_cast<std::int64_t>(i), draws[i].second);
  }
  const Sampled got = run.sample(halves);
  EXPECT_EQ(expect_sampled(halves, got).rows, std::ssize(draws));
  EXPECT_EQ((std::set<std::int64_t>(got.token.begin(), got.token.end()).size()), draws.size());
}

/// Random bit patterns; every second row without NaN, so that valid rows are fuzzed too.
TEST(GumbelMaxDrawsTest, FuzzedRowsAreSampledOrRefusedAsTheReferenceSays) {
  GumbelRun run;
  const std::int64_t rows = on_gpu() ? 100000 : 400;
  const std::int64_t vocabulary = 67;
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    GumbelProblem problem(dtype, rows, vocabulary);
    const std::size_t size = size_of(dtype);
    for (std::int64_t i = 0; i < problem.logits.elements(); ++i) {
      const auto at = static_cast<std::uint64_t>(i);
      std::uint32_t word = random_word(31, stream_of(name(dtype)), at);
      const bool nan = std::isnan(decode(dtype, size == 2 ? word & 0xffff : word));
      if (nan && (i / vocabulary) % 2 == 0) word = 0;
      std::copy_n(reinterpret_cast<const std::byte*>(&word), size,
                  problem.logits.bytes().data() + at * size);
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::uint32_t bits = random_word(32, 0, static_cast<std::uint64_t>(row));
      const std::uint32_t kept = row % 4 == 0 ? (bits & 0x0fffffffu) | 0x30000000u : bits;
      problem.temperature.set(row, std::bit_cast<float>(kept));
    }
    const Sampled got = run.sample(problem);
    expect_sampled(problem, got);
    EXPECT_EQ(run.sample(problem, 3), got);
    EXPECT_GT(std::ranges::count(got.ok, 1), rows / 8);
    EXPECT_GT(std::ranges::count(got.ok, 0), rows / 8);
    for (std::size_t row = 0; row < got.token.size(); ++row)
      EXPECT_TRUE(got.ok[row] == 1 ? got.token[row] >= 0 && got.token[row] < vocabulary
                                   : got.ok[row] == 0 && got.token[row] == -1)
          << row;
  }
}

}  // namespace
}  // namespace parity
