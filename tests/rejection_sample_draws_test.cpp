// What rejection_sample draws, against distributions that are worked out another way: the kept set
// by sorting, and each kept token's share of it. The reference draws, which the kernel equals in
// every row. A right distribution fails these tests with a chance below 1e-6.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/chi_square.hpp"
#include "tests/rejection_sample_run.hpp"
#include "tests/test_home.hpp"

namespace parity {
namespace {

constexpr std::int64_t kDraws = 200000;
/// Over the eight samples of right distributions that are tested.
constexpr double kAlarm = 1e-6 / 8;

struct Filters {
  double k, p, m;
  bool top_k_first = false;
};

/// Shares of tokens, exact but for the rounding of doubles; values and cuts are far from each other
/// or tie exactly.
std::vector<double> distribution(const std::vector<double>& probs, const std::vector<double>& draw,
                                 const Filters& filters) {
  std::vector<std::size_t> sorted(probs.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::ranges::stable_sort(sorted, [&](auto a, auto b) { return probs[a] > probs[b]; });
  const auto kth = probs[sorted[static_cast<std::size_t>(filters.k) - 1]];
  double total = 0;
  for (const double p : probs) total += !filters.top_k_first || p >= kth ? p : 0;
  std::vector<double> shares(probs.size(), 0.0);
  double above = 0;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    while (end < sorted.size() && probs[sorted[end]] == probs[sorted[i]]) ++end;
    const double value = probs[sorted[i]];
    const bool kept =
        value >= kth && above <= filters.p * total && value >= filters.m * probs[sorted[0]];
    for (; i < end; ++i) {
      above += value;
      if (kept) shares[sorted[i]] = draw[sorted[i]];
    }
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

const std::vector<double> kProbs = {0.02, 0.2, 0.05, 0.05, 0.12, 0.01, 0.25, 0.04, 0.09, 0.17};
const std::vector<double> kDraw = {0.05, 0.3, 0.1, 0.02, 0.12, 0.1, 0.21, 0.03, 0.02, 0.05};

std::vector<std::int64_t> counts_of(const std::vector<double>& probs,
                                    const std::vector<double>& draw, const Filters& filters) {
  RejectionProblem problem(Dtype::f32, kDraws, probs);
  problem.filter_by(filters.k, filters.p, filters.m);
  problem.draw_by(draw);
  problem.order = filters.top_k_first ? FilterOrder::top_k_first : FilterOrder::joint;
  std::vector<std::int64_t> counts(probs.size(), 0);
  for (const std::int64_t token : problem.expected().token)
    ++counts.at(static_cast<std::size_t>(token));
  return counts;
}

/// Under the null hypothesis that counts come from `share`.
double p_value(const std::vector<std::int64_t>& counts, const std::vector<double>& share) {
  return chi_square(counts, share).p;
}

TEST(RejectionSampleDrawsTest, KeptTokensAreDrawnByTheirShares) {
  for (const Filters& filters :
       {Filters{10, 1, 0}, Filters{5, 1, 0}, Filters{10, 0.7, 0}, Filters{10, 1, 0.3},
        Filters{6, 0.55, 0.1}, Filters{6, 0.55, 0.1, true}})
    EXPECT_GT(p_value(counts_of(kProbs, kDraw, filters), distribution(kProbs, kDraw, filters)),
              kAlarm)
        << filters.k << ' ' << filters.p << ' ' << filters.m << ' ' << filters.top_k_first;
}

/// The faults that such a test must see.
TEST(RejectionSampleDrawsTest, WrongDistributionsAreRejected) {
  const Filters filters{6, 0.62, 0.45};
  const auto counts = counts_of(kProbs, kDraw, filters);
  ASSERT_GT(p_value(counts, distribution(kProbs, kDraw, filters)), kAlarm);
  EXPECT_LT(p_value(counts, distribution(kDraw, kDraw, filters)), kAlarm) << "temperature first";
  EXPECT_LT(p_value(counts, distribution(kProbs, kProbs, filters)), kAlarm) << "no temperature";
  for (const Filters& dropped :
       {Filters{3, 0.9, 0.1}, Filters{6, 0.45, 0.1}, Filters{10, 1, 0.6}}) {
    const auto cut = counts_of(kProbs, kDraw, dropped);
    Filters without = dropped;
    (dropped.k < 4     ? without.k
     : dropped.p < 0.5 ? without.p
                       : without.m) = dropped.k < 4     ? 10
                                      : dropped.p < 0.5 ? 1
                                                        : 0;
    EXPECT_LT(p_value(cut, distribution(kProbs, kDraw, without)), kAlarm) << dropped.k;
  }
  const Filters first{3, 0.6, 0, true};
  Filters joint = first;
  joint.top_k_first = false;
  EXPECT_LT(p_value(counts_of(kProbs, kDraw, first), distribution(kProbs, kDraw, joint)), kAlarm)
      << "the other order";
  EXPECT_LT(p_value(counts_of(kProbs, kDraw, joint), distribution(kProbs, kDraw, first)), kAlarm)
      << "the other order";
}

/// On a GPU a million draws of each order of filters are the kernel's own.
TEST(RejectionSampleDrawsTest, DrawsOfTheKernelAreOfTheDistribution) {
  RejectionRun run;
  const std::int64_t rows = test::test_backend() == BackendKind::cuda ? 1 << 20 : 1 << 11;
  const Filters joint{6, 0.75, 0.1};  // the fifth token is kept by this order alone
  for (const bool top_k_first : {false, true}) {
    RejectionProblem problem(Dtype::f32, rows, kProbs);
    problem.filter_by(joint.k, joint.p, joint.m);
    problem.draw_by(kDraw);
    problem.order = top_k_first ? FilterOrder::top_k_first : FilterOrder::joint;
    std::vector<std::int64_t> counts(kProbs.size(), 0);
    for (const std::int64_t token : run.sample(problem).token)
      ++counts.at(static_cast<std::size_t>(token));
    Filters filters = joint;
    filters.top_k_first = top_k_first;
    const ChiSquare test = chi_square(counts, distribution(kProbs, kDraw, filters));
    EXPECT_GT(test.p, kAlarm);
    RecordProperty(top_k_first ? "top_k_first" : "joint", words(test, rows));
  }
}

TEST(RejectionSampleDrawsTest, TheKernelDrawsWhatTheReferenceDraws) {
  RejectionRun run;
  RejectionProblem problem(Dtype::f32, 1000, kProbs);
  problem.filter_by(6, 0.55, 0.1);
  problem.draw_by(kDraw);
  for (const FilterOrder order : {FilterOrder::joint, FilterOrder::top_k_first}) {
    problem.order = order;
    EXPECT_EQ(run.sample(problem), problem.expected());
  }
}

}  // namespace
}  // namespace parity
