// Scores follow the truth of the plants, and ours hold against the ports.
#include "tests/bench/peers/scoreboard.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/bench/peers/detectors.hpp"

namespace parity {
namespace {

constexpr Contest kSmall{.cases = 16, .placements = 6};
/// Says what it is told to.
class Pundit final : public Detector {
 public:
  explicit Pundit(Claim claim) : claim_(std::move(claim)) {}
  std::string_view name() const override { return "pundit"; }
  Detection run(Lab&) const override {
    Detection detection;
    detection.claims = {claim_};
    return detection;
  }

 private:
  Claim claim_;
};

LeakPlant placed(LeakClass leak_class) {
  const SimulatedSuite suite(kSmall.cases);
  return leak_plant(leak_class, suite, 0);
}
Order polluter_of(const LeakPlant& plant) {
  for (std::size_t c = 0; c < kSmall.cases; ++c)
    if (plant.reaches({c})) return {c};
  return {};
}
Score score_of(LeakClass leak_class, const Claim& claim) {
  return score(Pundit(claim), leak_class, kSmall, 0);
}

TEST(ScoreboardTest, AClaimIsExactOnlyWhenNothingCanBeLeftOut) {
  const LeakPlant plant = placed(LeakClass::sticky);
  Order history = polluter_of(plant);
  Score score = score_of(LeakClass::sticky, {Word::order_dependent, plant.victim, history});
  EXPECT_EQ(score.exact, 1u);
  EXPECT_EQ(score.replayed, score.replays);
  history.push_back(history.front() == 0 ? 1 : 0);
  score = score_of(LeakClass::sticky, {Word::order_dependent, plant.victim, history});
  EXPECT_EQ(score.told, 1u);
  EXPECT_EQ(score.exact, 0u);
  score = score_of(LeakClass::sticky, {Word::failed, plant.victim, history});
  EXPECT_EQ(score.found, 1u);
  EXPECT_EQ(score.told, 0u);
}

TEST(ScoreboardTest, TheWrongRoleIsNotExact) {
  const LeakPlant plant = placed(LeakClass::brittle);
  const Claim claim{Word::order_dependent, plant.victim, polluter_of(plant)};
  EXPECT_EQ(score_of(LeakClass::brittle, claim).exact, 0u);
}

TEST(ScoreboardTest, AccusingABystanderOrAnOrderThatDoesNothingIsAFalseAlarm) {
  const LeakPlant plant = placed(LeakClass::sticky);
  const Order history = polluter_of(plant);
  EXPECT_EQ(score_of(LeakClass::sticky, {Word::order_dependent, history.front(), {plant.victim}})
                .false_alarms,
            1u);
  EXPECT_EQ(score_of(LeakClass::sticky, {Word::order_dependent, plant.victim, {}}).false_alarms,
            1u);
  EXPECT_EQ(
      score_of(LeakClass::sticky, {Word::order_dependent, plant.victim, history}).false_alarms, 0u);
}

TEST(ScoreboardTest, ControlsCountWhoeverIsAccused) {
  const std::size_t victim = placed(LeakClass::flake_30).victim;
  EXPECT_EQ(score_of(LeakClass::flake_30, {Word::order_dependent, victim, {}}).false_alarms, 1u);
  EXPECT_EQ(score_of(LeakClass::flake_30, {Word::flaky, victim, {}}).false_alarms, 0u);
  EXPECT_EQ(score_of(LeakClass::clean, {Word::flaky, victim, {}}).false_alarms, 1u);
}

TEST(ScoreboardTest, OursIsExactOnEveryLeakAndAccusesNothingElse) {
  for (const bool probes : {false, true})
    for (const LeakClass leak_class : leak_classes()) {
      if (leak_class == LeakClass::race_30) continue;  // 16 orders may not show it
      const Score sum = score(*parity_detector(probes), leak_class, kSmall);
      const bool is_leak = placed(leak_class).order_dependent;
      EXPECT_EQ(sum.exact, is_leak ? kSmall.placements : 0) << name(leak_class);
      EXPECT_EQ(sum.carrier, is_leak && probes ? kSmall.placements : 0) << name(leak_class);
      EXPECT_EQ(sum.false_alarms, 0u) << name(leak_class);
      EXPECT_EQ(sum.claimed.exercised, sum.adjacent.exercised) << name(leak_class);
    }
}

/// From the first order that shows it to the exact sequence.
void expect_cheaper_than_any_port(LeakClass leak_class, const Contest& contest) {
  const Score ours = score(*parity_detector(false), leak_class, contest);
  EXPECT_EQ(ours.exact, contest.placements) << name(leak_class);
  std::size_t compared = 0;
  for (const auto& detector : detectors()) {
    if (detector->name().starts_with("parity")) continue;
    const Score theirs = score(*detector, leak_class, contest);
    if (theirs.told == 0) continue;  // it has no sequence
    ++compared;
    EXPECT_LT(ours.settled.executions * theirs.told, theirs.settled.executions * ours.told)
        << name(leak_class) << ", " << detector->name();
  }
  EXPECT_GE(compared, 2u);
}

TEST(ScoreboardTest, OnePolluterOf200CostsOursLessThanAnyPort) {
  expect_cheaper_than_any_port(LeakClass::sticky,
                               {.cases = 200, .placements = 2, .budget = 10'000});
}

TEST(ScoreboardTest, SeveralPollutersCostOursLessThanAnyPort) {
  const Contest contest{.cases = 64, .placements = 6};
  expect_cheaper_than_any_port(LeakClass::two_polluters, contest);
  expect_cheaper_than_any_port(LeakClass::three_polluters, contest);
}

}  // namespace
}  // namespace parity
