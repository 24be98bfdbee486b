// rejection_sample: against its reference in every row, and at its edges.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "datasets/fill.hpp"
#include "tests/rejection_sample_run.hpp"
#include "tests/test_home.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::set<std::int64_t> set_of(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

/// Tokens that `rows` draws of these values under these filters ever give.
std::set<std::int64_t> support(RejectionRun& run, const std::vector<double>& values, double k,
                               double p, double m, FilterOrder order = FilterOrder::joint) {
  RejectionProblem problem(Dtype::f32, 96, values);
  problem.filter_by(k, p, m);
  problem.order = order;
  const Drawn got = run.sample(problem);
  EXPECT_EQ(got, problem.expected());
  return set_of(got.token);
}

TEST(RejectionSampleTest, EveryRowAgreesWithTheReferenceForEveryDtypeRecipeAndSplit) {
  RejectionRun run;
  for (const char* id :
       {"probs=f32,filter=f32/v=257,b=16,draw=none,order=joint,splits=1/ordinary",
        "probs=f16,filter=f32/v=1000,b=9,draw=probs,order=joint,splits=1/ordinary",
        "probs=bf16,filter=f16/v=33,b=100,draw=none,order=joint,splits=1/extremes",
        "probs=f32,filter=f32/v=31,b=100,draw=probs,order=top_k_first,splits=1/"
        "extremes",
        "probs=f32,filter=f32/v=257,b=16,draw=none,order=top_k_first,splits=1/"
        "ties",
        "probs=f16,filter=f32/v=256,b=8,draw=probs,order=joint,splits=1/flat",
        "probs=bf16,filter=bf16/v=999,b=8,draw=none,order=top_k_first,splits=1/"
        "peaked",
        "probs=f16,filter=f32/v=77,b=16,draw=probs,order=joint,splits=1/invalid"}) {
    const RejectionProblem problem(id);
    const Drawn want = problem.expected();
    EXPECT_EQ(run.sample(problem), want) << id;
    EXPECT_EQ(run.sample(problem, 3, Poison::high), want) << id;
  }
}

TEST(RejectionSampleTest, TheNumberOfSplitsNeverChangesAnAnswer) {
  RejectionRun run;
  for (const char* id :
       {"probs=f32,filter=f32/v=4099,b=2,draw=probs,order=top_k_first,splits=1/ordinary",
        "probs=bf16,filter=f32/v=9001,b=2,draw=none,order=joint,splits=1/ordinary"}) {
    const RejectionProblem problem(id);
    const Drawn want = problem.expected();
    for (const std::int64_t splits : {0, 1, 2, 5, 16, 63, 64})
      EXPECT_EQ(run.sample(problem, splits), want) << id << ' ' << splits;
  }
}

/// More rounds than the launches that all splits take part in.
TEST(RejectionSampleTest, RowsOfManyRoundsAreFinishedByOneBlock) {
  RejectionRun run;
  std::vector<double> values(200);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 + static_cast<double>(i) / 4096;
  RejectionProblem problem(Dtype::f32, 24, values);
  problem.filter_by(1, 1, 0);
  const Drawn want = problem.expected();
  EXPECT_GT(std::ranges::max(want.rounds), 5);
  EXPECT_EQ(set_of(want.token), std::set<std::int64_t>{199});
  for (const std::int64_t splits : {1, 4}) EXPECT_EQ(run.sample(problem, splits), want);
}

/// C5.
TEST(RejectionSampleTest, AllTiesAtACutAreKept) {
  RejectionRun run;
  const std::vector<double> tied = {0.4, 0.3, 0.3, 0};
  EXPECT_EQ(support(run, tied, 2, 1, 0), (std::set<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(support(run, tied, 1, 1, 0), (std::set<std::int64_t>{0}));
  EXPECT_EQ(support(run, tied, 0, 0.5, 0), (std::set<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(support(run, tied, 0, 1, 0.75), (std::set<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(support(run, tied, 0, 1, 0.76), (std::set<std::int64_t>{0}));
}

/// C9: logits 3 2 1 at temperature 0.5; of the tempered ones, top_p would keep 0 alone.
TEST(RejectionSampleTest, FiltersActOnUntemperedProbabilities) {
  RejectionRun run;
  RejectionProblem problem(Dtype::f32, 96, {0.6652, 0.2447, 0.0900});
  problem.filter_by(0, 0.8, 0);
  problem.draw_by({0.8668, 0.1173, 0.0159});
  const Drawn got = run.sample(problem);
  EXPECT_EQ(got, problem.expected());
  EXPECT_EQ(set_of(got.token), (std::set<std::int64_t>{0, 1}));
}

/// top_p is half of everything, or of the two that top_k keeps.
TEST(RejectionSampleTest, FilterOrdersKeepDifferentTokens) {
  RejectionRun run;
  const std::vector<double> values = {0.3, 0.25, 0.15, 0.15, 0.15};
  EXPECT_EQ(support(run, values, 2, 0.5, 0), (std::set<std::int64_t>{0, 1}));
  EXPECT_EQ(support(run, values, 2, 0.5, 0, FilterOrder::top_k_first), (std::set<std::int64_t>{0}));
}

TEST(RejectionSampleTest, ExtremesOfFiltersAreOffOrKeepTheMaximumAlone) {
  RejectionRun run;
  const std::vector<double> values = {0.25, 0.5, 0.25};
  const std::set<std::int64_t> all = {0, 1, 2};
  const std::set<std::int64_t> best = {1};
  for (const double k : {-1.0, 0.0, 3.0, 4.0}) EXPECT_EQ(support(run, values, k, 1, 0), all) << k;
  for (const double p : {1.0, 2.0, kNan}) EXPECT_EQ(support(run, values, 0, p, 0), all) << p;
  for (const double m : {-1.0, 0.0, kNan}) EXPECT_EQ(support(run, values, 0, 1, m), all) << m;
  for (const double p : {0.0, -1.0, 0x1p-40}) EXPECT_EQ(support(run, values, 0, p, 0), best) << p;
  for (const double m : {1.0, 1.5, kInfinity}) EXPECT_EQ(support(run, values, 0, 1, m), best) << m;
}

/// C3: wherever the bad row and the bad value are.
TEST(RejectionSampleTest, AnInvalidRowIsRefusedAndItsNeighboursAreUntouched) {
  RejectionRun run;
  std::vector<double> values(300);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 13);
  const RejectionProblem sound(Dtype::f16, 3, values);
  for (const std::int64_t splits : {1, 4}) {
    const Drawn before = run.sample(sound, splits);
    for (const double bad : {kNan, kInfinity, -kInfinity, -0x1p-10})
      for (std::int64_t row = 0; row < 3; ++row) {
        RejectionProblem problem = sound;
        problem.set(row, row * 149, bad);
        Drawn want = before;
        want.token[static_cast<std::size_t>(row)] = -1;
        want.ok[static_cast<std::size_t>(row)] = want.rounds[static_cast<std::size_t>(row)] = 0;
        EXPECT_EQ(run.sample(problem, splits), want) << bad << " in row " << row;
        EXPECT_EQ(problem.expected(), want);
      }
  }
}

TEST(RejectionSampleTest, NothingToDrawIsNoToken) {
  RejectionRun run;
  const Drawn none = {{-1}, {0}, {0}};
  EXPECT_EQ(run.sample(RejectionProblem(Dtype::f32, 1, {0, 0, -0.0})), none);
  RejectionProblem drawless(Dtype::f32, 1, {1, 2, 3});
  drawless.draw_by({0, 0, 0});
  EXPECT_EQ(run.sample(drawless), none);
  RejectionProblem negative_zero(Dtype::f32, 1, {-0.0, 2, -0.0});
  EXPECT_EQ(run.sample(negative_zero), (Drawn{{1}, {1}, {1}}));
  // What is kept has no draw weight: every candidate is rejected until none is left.
  RejectionProblem outside(Dtype::f32, 8, {1, 2, 3});
  outside.filter_by(1, 1, 0);
  outside.draw_by({1, 1, 0});
  const Drawn got = run.sample(outside);
  EXPECT_EQ(got, outside.expected());
  EXPECT_EQ(set_of(got.token), std::set<std::int64_t>{-1});
  EXPECT_GE(std::ranges::min(got.rounds), 1);
}

TEST(RejectionSampleTest, SubnormalAndLargestValuesHaveExactWeights) {
  RejectionRun run;
  for (const std::vector<double>& values : {std::vector<double>{0x1p-149, 0x1.8p-148, 0x1p-149},
                                            {0x1p-126, 0x1.8p-127, 0x1p-149},
                                            {0x1.fffffep127, 0x1p127, 1.0}}) {
    RejectionProblem problem(Dtype::f32, 64, values);
    const Drawn got = run.sample(problem);
    EXPECT_EQ(got, problem.expected());
    EXPECT_GE(set_of(got.token).size(), 2u);
  }
}

/// C6.
TEST(RejectionSampleTest, StepsDifferAndRepeat) {
  RejectionRun run;
  RejectionProblem problem(Dtype::f32, 64, std::vector<double>(4096, 1.0));
  const Drawn first = run.sample(problem);
  EXPECT_GT(set_of(first.token).size(), 55u);
  EXPECT_EQ(run.sample(problem), first);
  for (std::int64_t row = 0; row < 64; ++row)
    problem.set_step(row, static_cast<std::uint64_t>(row) << 32);  // the upper half counts too
  EXPECT_GT(set_of(run.sample(problem).token).size(), 55u);
}

TEST(RejectionSampleTest, TokensMoveWithTheirRows) {
  RejectionRun run;
  const RejectionProblem problem(
      "probs=f32,filter=f32/v=257,b=16,draw=probs,order=joint,splits=1/ordinary");
  std::vector<std::int64_t> order(16);
  std::iota(order.rbegin(), order.rend(), 0);
  std::swap(order[3], order[11]);
  const Drawn before = run.sample(problem);
  const Drawn after = run.sample(problem.reordered(order));
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(after.token[i], before.token[static_cast<std::size_t>(order[i])]) << i;
    EXPECT_EQ(after.rounds[i], before.rounds[static_cast<std::size_t>(order[i])]) << i;
  }
}

/// C2 and C10: the longest vocabulary, all its tokens alike, and what lies just beyond a tile.
TEST(RejectionSampleTest, EdgesOfVocabulariesAreNeitherPassedNorLeftOut) {
  RejectionRun run;
  for (const std::size_t v : {1, 2, 7, 8, 9, 2047, 2049}) {
    RejectionProblem problem(Dtype::bf16, 16, std::vector<double>(v, 0.5));
    const Drawn got = run.sample(problem);
    EXPECT_EQ(got, problem.expected()) << v;
    EXPECT_LT(std::ranges::max(got.token), static_cast<std::int64_t>(v));
    EXPECT_EQ(set_of(got.ok), std::set<std::int64_t>{1});
  }
  RejectionProblem longest(Dtype::bf16, 8, std::vector<double>(1 << 18, 0x1p-18));
  const Drawn got = run.sample(longest, 2);
  EXPECT_EQ(got, longest.expected());
  const auto late = std::ranges::count_if(got.token, [](auto t) { return t >= 1 << 17; });
  EXPECT_GE(late, 1);
  EXPECT_LE(late, 7);
}

void fill_with_random_bits(Tensor& tensor, std::uint32_t stream) {
  const std::span<std::byte> bytes = tensor.bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(random_word(7, stream, i / 4) >> 8 * (i % 4));
}

/// Every second row holds only positive finite patterns.
void fill_with_random_rows(Tensor& values, std::uint32_t stream) {
  fill_with_random_bits(values, stream);
  const std::int64_t length = values.shape()[1];
  const std::size_t size = size_of(values.dtype());
  for (std::int64_t i = 0; i < values.elements(); ++i) {
    if (i / length % 2 == 0) continue;
    std::byte& top = values.bytes()[static_cast<std::size_t>(i + 1) * size - 1];
    top &= std::byte{0x7f};
    if (!(values.at(i) < kInfinity)) top &= std::byte{0x3f};
  }
}

TEST(RejectionSampleTest, RandomBitPatternsGiveTheReferencesAnswer) {
  RejectionRun run;
  const std::int64_t rows = test::test_backend() == BackendKind::cuda ? 100000 : 256;
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16})
    for (const bool all_random : {false, true}) {  // filters and draws too
      RejectionProblem problem(dtype, rows, std::vector<double>(19, 1.0), dtype);
      fill_with_random_rows(problem.probs, 1);
      problem.filter_by(7, 0.7, 0);
      if (all_random) {
        problem.draw_by(std::vector<double>(19, 1.0));
        fill_with_random_rows(*problem.draw, 2);
        fill_with_random_bits(problem.top_k, 3);
        for (std::int64_t row = 0; row < rows; row += 3)
          problem.top_k.set(row, static_cast<double>(row % 23));
        fill_with_random_bits(problem.top_p, 4);
        fill_with_random_bits(problem.min_p, 5);
      }
      const Drawn got = run.sample(problem);
      EXPECT_EQ(got, problem.expected());
      EXPECT_GE(std::ranges::count(got.ok, 1), all_random ? rows / 8 : rows / 2 - 8);
      for (std::size_t row = 0; row < got.token.size(); ++row)
        EXPECT_TRUE(got.ok[row] == 0 ? got.token[row] == -1
                                     : got.token[row] >= 0 && got.token[row] < 19);
    }
}

TEST(RejectionSampleTest, LaunchesReplayAsAGraph) {
  RejectionRun run;
  const RejectionProblem problem(
      "probs=f32,filter=f32/v=4099,b=3,draw=none,order=top_k_first,splits=1/ordinary");
  RejectionSampleArgs args = run.place(problem);
  args.splits = 3;
  run.runtime().replay_as_graph([&] { rejection_sample(run.runtime(), args); });
  EXPECT_EQ(run.read(), problem.expected());
}

}  // namespace
}  // namespace parity
