// gumbel_max_sample: against its reference, at its edges, and however it is split.
#include "device/gumbel_max_sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/gumbel_max_run.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Dtype kDtypes3[] = {Dtype::f32, Dtype::f16, Dtype::bf16};

std::int64_t first_token(GumbelRun& run, const GumbelProblem& problem) {
  return run.sample(problem).token.front();
}

TEST(GumbelMaxSampleTest, AgreesWithTheReferenceForEveryDtypeVocabularyAndRecipe) {
  GumbelRun run;
  for (const char* id :
       {"logits=f32/v=1,b=3,splits=1/plain", "logits=f16/v=2,b=12,splits=2/edges",
        "logits=bf16/v=31,b=12,splits=auto/edges", "logits=f32/v=33,b=24,splits=7/edges",
        "logits=f16/v=255,b=16,splits=1/plain", "logits=bf16/v=257,b=64,splits=3/duel",
        "logits=f16/v=2047,b=64,splits=16/duel", "logits=f32/v=2049,b=64,splits=2/duel",
        "logits=bf16/v=8193,b=12,splits=auto/edges", "logits=f32/v=32000,b=3,splits=auto/flat"}) {
    SCOPED_TRACE(id);
    const GumbelProblem problem(id);
    const Sampled got = run.sample(problem);
    EXPECT_EQ(run.sample(problem, kAutoSamplerSplits, Poison::high), got);
    EXPECT_GE(expect_sampled(problem, got).rows, (problem.rows() * 9 + 9) / 10);
  }
}

TEST(GumbelMaxSampleTest, NoNumberOfSplitsChangesAToken) {
  GumbelRun run;
  for (const char* id :
       {"logits=f32/v=2049,b=3,splits=1/plain", "logits=bf16/v=515,b=12,splits=1/edges",
        "logits=f16/v=7,b=2,splits=1/flat"}) {
    const GumbelProblem problem(id);
    const Sampled whole = run.sample(problem, 1);
    for (std::int64_t splits = 2; splits <= 64; ++splits)
      EXPECT_EQ(run.sample(problem, splits), whole) << id << " in " << splits;
    EXPECT_EQ(run.sample(problem, kAutoSamplerSplits), whole) << id;
  }
}

/// A row's token depends on its own content, seed and step, and on no other row.
TEST(GumbelMaxSampleTest, TokensMoveWithTheirRows) {
  GumbelRun run;
  const GumbelProblem problem("logits=bf16/v=515,b=24,splits=1/edges");
  const Sampled before = run.sample(problem);
  std::vector<std::int64_t> order(24);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::reverse(order);
  std::ranges::rotate(order, order.begin() + 5);
  const Sampled after = run.sample(problem.reordered(order));
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(after.token[i], before.token[static_cast<std::size_t>(order[i])]) << i;
    EXPECT_EQ(after.ok[i], before.ok[static_cast<std::size_t>(order[i])]) << i;
  }
  for (const std::int64_t row : {0, 3, 17})
    EXPECT_EQ(run.sample(problem.reordered({row})).token[0],
              before.token[static_cast<std::size_t>(row)]);
}

/// C3.
TEST(GumbelMaxSampleTest, ASpoiledRowIsRefusedAloneWhereverItStands) {
  GumbelRun run;
  GumbelProblem sound(Dtype::f16, 3, 257);
  const Sampled before = run.sample(sound);
  for (std::int64_t spoiled = 0; spoiled < 3; ++spoiled)
    for (const std::int64_t token : {0, 128, 256})
      for (const std::int64_t splits : {1, 4}) {
        GumbelProblem problem = sound;
        problem.set(spoiled, token, kNan);
        Sampled want = before;
        want.token[static_cast<std::size_t>(spoiled)] = -1;
        want.ok[static_cast<std::size_t>(spoiled)] = 0;
        EXPECT_EQ(run.sample(problem, splits), want) << spoiled << ' ' << token;
      }
}

TEST(GumbelMaxSampleTest, TemperaturesThatAreNoneRefuseTheirRow) {
  GumbelRun run;
  for (const double temperature : {-0.5, -1e-6, -kInfinity, kInfinity, kNan}) {
    GumbelProblem problem(Dtype::f32, 3, 33);
    const Sampled before = run.sample(problem);
    problem.temperature.set(1, temperature);
    const Sampled got = run.sample(problem);
    EXPECT_EQ(got.token, (std::vector<std::int64_t>{before.token[0], -1, before.token[2]}));
    EXPECT_EQ(got.ok, (std::vector<std::int64_t>{1, 0, 1}));
  }
}

/// Of equals the first, in whatever thread, block and warp they are.
TEST(GumbelMaxSampleTest, NearZeroTemperatureIsTheFirstLargestLogit) {
  GumbelRun run;
  for (const double temperature : {0.0, -0.0, 1e-6, 9.99e-6})
    for (const std::int64_t splits : {1, 3}) {
      GumbelProblem problem(Dtype::bf16, 1, 4099);
      problem.temperature.set(0, temperature);
      for (const std::int64_t token : {4098, 2100, 1999, 1031}) {
        problem.set(0, token, 3);
        EXPECT_EQ(run.sample(problem, splits).token[0], token);
      }
    }
  GumbelProblem zeros(Dtype::f32, 1, 3);
  zeros.temperature.set(0, 0);
  zeros.set(0, 0, -0.0);
  EXPECT_EQ(first_token(run, zeros), 0) << "-0 equals 0";
  GumbelProblem negative(Dtype::f32, 1, 2);
  negative.temperature.set(0, 0);
  negative.set(0, 0, -std::numeric_limits<float>::max());
  negative.set(0, 1, -kInfinity);
  EXPECT_EQ(first_token(run, negative), 0);
}

/// 1e-5 itself divides and draws: logits that differ by 1e-5 are one apart.
TEST(GumbelMaxSampleTest, TheSmallestTemperatureDraws) {
  GumbelRun run;
  GumbelProblem problem(Dtype::f32, 64, 2);
  for (std::int64_t row = 0; row < 64; ++row) {
    problem.temperature.set(row, 1e-5);
    problem.set(row, 1, 1e-5);
  }
  const Sampled got = run.sample(problem);
  EXPECT_EQ(expect_sampled(problem, got).rows, 64);
  const auto ones = std::ranges::count(got.token, 1);
  EXPECT_GT(ones, 32) << "73 % of 64 are expected";
  EXPECT_LT(ones, 64);
}

TEST(GumbelMaxSampleTest, TheFirstInfiniteLogitWins) {
  GumbelRun run;
  for (const Dtype dtype : kDtypes3)
    for (const double temperature : {0.0, 0.3, 1e30})
      for (const std::int64_t splits : {1, 2, 64}) {
        GumbelProblem problem(dtype, 1, 5000);
        problem.temperature.set(0, temperature);
        problem.set(0, 17, 6e4);
        for (const std::int64_t token : {4999, 3011, 2000, 900, 7}) {
          problem.set(0, token, kInfinity);
          EXPECT_EQ(run.sample(problem, splits).token[0], token) << splits;
        }
        problem.set(0, 4998, kNan);
        EXPECT_EQ(run.sample(problem, splits).token[0], -1) << "NaN spoils even that";
      }
}

/// A quotient beyond f32 is no infinite logit, and above no logit at all.
TEST(GumbelMaxSampleTest, QuotientsThatOverflowAreTheLargestNumbers) {
  GumbelRun run;
  GumbelProblem problem(Dtype::f32, 3, 600);
  for (std::int64_t row = 0; row < 3; ++row) problem.temperature.set(row, 0.01);
  problem.set(0, 5, 3e38);
  problem.set(0, 500, kInfinity);
  problem.set(1, 300, 3e38);
  problem.set(1, 301, 3.1e38);
  for (std::int64_t token = 0; token < 600; ++token) problem.set(2, token, -kInfinity);
  problem.set(2, 400, -3e38);
  problem.set(2, 401, -3.1e38);
  EXPECT_EQ(run.sample(problem).token, (std::vector<std::int64_t>{500, 300, 400}));
}

TEST(GumbelMaxSampleTest, OfARowOfMinusInfinityNothingIsChosen) {
  GumbelRun run;
  for (const double temperature : {0.0, 1.0})
    for (const std::int64_t splits : {1, 9}) {
      GumbelProblem problem(Dtype::bf16, 2, 1000);
      for (std::int64_t row = 0; row < 2; ++row) {
        problem.temperature.set(row, temperature);
        for (std::int64_t token = 0; token < 1000; ++token) problem.set(row, token, -kInfinity);
      }
      problem.set(1, 999, -6e4);
      const Sampled got = run.sample(problem, splits);
      EXPECT_EQ(got.token, (std::vector<std::int64_t>{-1, 999}));
      EXPECT_EQ(got.ok, (std::vector<std::int64_t>{0, 1}));
    }
}

/// C1: at seed 1, step 8666404 token 819 has the word 0, and so the loudest noise there is: 22.87.
/// One whose uniform reached the end would have infinite noise.
TEST(GumbelMaxSampleTest, TheLoudestNoiseIsFiniteAndNeverChoosesAMaskedToken) {
  ASSERT_EQ(gumbel_word(1, 8666404, 819), 0u);
  GumbelRun run;
  GumbelProblem problem(Dtype::f32, 1, 1024);
  problem.set_step(0, 8666404);
  EXPECT_EQ(first_token(run, problem), 819);
  problem.set(0, 819, -20);
  const std::int64_t other = problem.expected(0).token;
  EXPECT_NE(other, 819);
  EXPECT_EQ(first_token(run, problem), other) << "noise of 22.87 or more would win";
  problem.set(0, 819, -kInfinity);
  EXPECT_EQ(first_token(run, problem), other);
}

/// C1: at seed 1, step 81964 token 881 has the word 0xffffffff, and so the faintest noise: -2.81.
/// Where v reached 1 it would be -infinity.
TEST(GumbelMaxSampleTest, TheFaintestNoiseIsFiniteAndCanBeChosen) {
  ASSERT_EQ(gumbel_word(1, 81964, 881), 0xffffffffu);
  GumbelRun run;
  GumbelProblem problem(Dtype::f32, 1, 1024);
  problem.set_step(0, 81964);
  EXPECT_NE(first_token(run, problem), 881);
  for (std::int64_t token = 0; token < 1024; ++token)
    if (token != 881) problem.set(0, token, -6e4);
  EXPECT_EQ(first_token(run, problem), 881);
  for (std::int64_t token = 0; token < 1024; ++token)
    if (token != 881) problem.set(0, token, -kInfinity);
  EXPECT_EQ(first_token(run, problem), 881);
}

/// C2: tile·k and one to either side, the last tokens masked in turn.
TEST(GumbelMaxSampleTest, NoPaddingLaneIsEverChosen) {
  GumbelRun run;
  for (const std::int64_t vocabulary : {1, 7, 8, 9, 2047, 2048, 2049, 4095, 4097}) {
    GumbelProblem problem(Dtype::bf16, 16, vocabulary);
    const Sampled got = run.sample(problem);
    EXPECT_EQ(expect_sampled(problem, got).rows, 16) << vocabulary;
    for (const std::int64_t token : got.token) {
      EXPECT_GE(token, 0);
      EXPECT_LT(token, vocabulary);
    }
  }
}

}  // namespace
}  // namespace parity
