// The ports do what the tools they stand for are documented to do, their limits included.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/bench/peers/detectors.hpp"
#include "tests/leak_plants.hpp"

namespace parity {
namespace {

struct Seen {
  Detection detection;
  LeakPlant plant;
  Cost spent;
};

Seen run(const Detector& detector, LeakClass leak_class, std::uint64_t seed = 3,
         std::size_t budget = 2000, std::size_t cases = 16) {
  SimulatedSuite suite(cases);
  Seen seen;
  seen.plant = leak_plant(leak_class, suite, seed);
  SimulatedWorker worker = worker_of(suite, seen.plant, detector.probes());
  Judge judge = suite.judge();
  Meter meter(worker, cases, budget);
  Lab lab{suite.cases(), judge, meter, seed};
  seen.detection = detector.run(lab);
  seen.spent = meter.spent();
  return seen;
}

void expect_exact(const Seen& seen) {
  ASSERT_EQ(seen.detection.claims.size(), 1u);
  const Claim& claim = seen.detection.claims.front();
  EXPECT_EQ(claim.word, Word::order_dependent);
  EXPECT_EQ(claim.victim, seen.plant.victim);
  EXPECT_EQ(claim.role, seen.plant.role);
  EXPECT_TRUE(seen.plant.is_minimal(claim.history));
}

Order first_cases(std::size_t count) {
  Order order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

TEST(PeersTest, ShuffleSaysWhichRoundFailedAndNoMore) {
  const Seen seen = run(*gtest_shuffle(), LeakClass::sticky);
  ASSERT_EQ(seen.detection.claims.size(), 1u);
  const Claim& claim = seen.detection.claims.front();
  EXPECT_EQ(claim.word, Word::failed);
  EXPECT_EQ(claim.victim, seen.plant.victim);
  EXPECT_EQ(seen.spent.starts, 1u);
  EXPECT_EQ(seen.spent.executions, 160u);  // ten rounds in one process
}

TEST(PeersTest, ShuffleGoesOnInANewProcessAfterACrash) {
  std::size_t later = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Seen seen = run(*gtest_shuffle(), LeakClass::last_writer, seed);
    later += seen.spent.starts > 1 ? 1 : 0;
    EXPECT_LE(seen.spent.executions, 2000u);
  }
  EXPECT_GE(later, 1u);
}

TEST(PeersTest, RSpecBisectsToAllRequiredPolluters) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    expect_exact(run(*rspec_bisect(), LeakClass::sticky, seed));
    expect_exact(run(*rspec_bisect(), LeakClass::two_polluters, seed));
    expect_exact(run(*rspec_bisect(), LeakClass::three_polluters, seed));
  }
}

TEST(PeersTest, RSpecDoesNotBisectWhatFailsWithoutTheRest) {
  const Seen seen = run(*rspec_bisect(), LeakClass::brittle);
  ASSERT_EQ(seen.detection.claims.size(), 1u);
  EXPECT_EQ(seen.detection.claims.front().word, Word::failed);
}

TEST(PeersTest, DetectTestPollutionFindsTheOnePolluter) {
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    expect_exact(run(*detect_test_pollution(), LeakClass::sticky, seed));
  // Alone, all others, four halvings of 15 (7 or 8, 4, 2, 1), and what is left.
  const Seen seen = run(*detect_test_pollution(), LeakClass::sticky);
  EXPECT_GE(seen.detection.settled.executions, 1u + 16u + 14u + 2u);
  EXPECT_LE(seen.detection.settled.executions, 1u + 16u + 20u + 2u);
}

TEST(PeersTest, DetectTestPollutionKnowsNoSecondPolluter) {
  const Seen seen = run(*detect_test_pollution(), LeakClass::two_polluters);
  ASSERT_EQ(seen.detection.claims.size(), 1u);
  EXPECT_EQ(seen.detection.claims.front().word, Word::failed);
}

TEST(PeersTest, IDFlakiesFindsPollutersAndStateSetters) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    expect_exact(run(*idflakies(), LeakClass::sticky, seed));
    expect_exact(run(*idflakies(), LeakClass::two_polluters, seed));
    expect_exact(run(*idflakies(), LeakClass::brittle, seed));
  }
}

TEST(PeersTest, IDFlakiesTellsMostFlakesFromOrder) {
  std::size_t flaky = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const Claim& claim : run(*idflakies(), LeakClass::flake_30, seed).detection.claims)
      flaky += claim.word == Word::flaky ? 1 : 0;
  EXPECT_GE(flaky, 12u);
  EXPECT_LT(flaky, 20u);  // one rerun each way cannot tell all
}

TEST(PeersTest, NoneOfThemSeesWhatStaysInsideTheTolerance) {
  for (const auto& detector : detectors()) {
    const Seen seen = run(*detector, LeakClass::drift);
    const bool is_ours = detector->name().starts_with("parity");
    EXPECT_EQ(seen.detection.claims.size(), is_ours ? 1u : 0u) << detector->name();
  }
}

TEST(PeersTest, NobodyFindsAnythingInACleanSuiteOrSpendsMoreThanTheBudget) {
  for (const auto& detector : detectors()) {
    const Seen seen = run(*detector, LeakClass::clean, 3, 500);
    EXPECT_TRUE(seen.detection.claims.empty()) << detector->name();
    EXPECT_LE(seen.spent.executions, 500u) << detector->name();
    EXPECT_GT(seen.spent.executions, 250u) << detector->name();
  }
}

TEST(PeersTest, EqualSeedsGiveEqualDetections) {
  for (const auto& detector : detectors()) {
    const Seen a = run(*detector, LeakClass::race_90, 5);
    const Seen b = run(*detector, LeakClass::race_90, 5);
    EXPECT_EQ(a.spent.executions, b.spent.executions) << detector->name();
    ASSERT_EQ(a.detection.claims.size(), b.detection.claims.size()) << detector->name();
    for (std::size_t i = 0; i < a.detection.claims.size(); ++i)
      EXPECT_EQ(a.detection.claims[i].history, b.detection.claims[i].history) << detector->name();
  }
}

TEST(DdminTest, TheRestIsOneMinimalAndNoPartIsTriedTwice) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Order drawn = random_orders(30, 1, seed).front();
    Order required(drawn.begin(), drawn.begin() + 1 + static_cast<std::ptrdiff_t>(seed % 4));
    std::ranges::sort(required);
    std::vector<Order> tried;
    EXPECT_EQ(ddmin(first_cases(30),
                    [&](const Order& order) {
                      tried.push_back(order);
                      return std::ranges::includes(order, required);
                    }),
              required);
    std::ranges::sort(tried);
    EXPECT_EQ(std::ranges::adjacent_find(tried), tried.end());
  }
}

TEST(MeterTest, ASequenceThatDoesNotFitEndsTheBudget) {
  SimulatedSuite suite(4);
  SimulatedWorker worker(suite, [](const SimulatedRun&) { return Answer::right; });
  Meter meter(worker, 4, 5);
  const std::vector<Sequence> sequences = {Sequence::of(Order{0, 1, 2}),
                                           Sequence::of(Order{1, 2, 3}), Sequence::of(Order{0})};
  const std::vector<SequenceResult> results = meter.execute(sequences);
  EXPECT_EQ(results[0].completed(), 3u);
  EXPECT_EQ(results[1].completed(), 0u);
  EXPECT_EQ(results[2].completed(), 0u);
  EXPECT_EQ(meter.spent().executions, 3u);
  EXPECT_EQ(meter.spent().starts, 1u);
  EXPECT_EQ(meter.left(), 0u);
  EXPECT_TRUE(meter.stopped());
  EXPECT_EQ(worker.sequences(), 1u);
}

}  // namespace
}  // namespace parity
