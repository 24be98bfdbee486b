// Attribution: each grade from what the worker can do, and no name for an innocent carrier.
#include "harness/attribute.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "simulated_worker.hpp"

namespace parity {
namespace {

Answer never(const SimulatedRun&) {
  return Answer::right;
}

/// Case 1 after case 0, of one cell and other dtypes.
class AttributeTest : public ::testing::Test {
 protected:
  Attribution attribute_pair(SimulatedWorker& worker, std::size_t repeats = 1) {
    const std::vector<Sequence> sequences = {Sequence::of(Order{0, 1}), Sequence::of(Order{1})};
    const std::vector<SequenceResult> results = worker.execute(sequences);
    const Outcome& alone = results[1].outcomes[0];
    worker.reset_counts();
    return attribute(
        {0}, 1, results[0].outcomes[1], worker,
        [&](const Outcome& outcome) { return outcome.outputs == alone.outputs; }, repeats);
  }

  SimulatedSuite suite_{2};
};

TEST_F(AttributeTest, AWeakKeyIsConfirmedInFourExecutions) {
  SimulatedWorker worker(suite_, never);
  worker.weak_keys = true;
  const Attribution leak = attribute_pair(worker);
  EXPECT_EQ(leak.carrier, "module_cache");
  EXPECT_EQ(leak.cell, "simulated<d=64>");
  EXPECT_EQ(leak.built_for, "q=f32,k=f32,v=f32");
  EXPECT_EQ(leak.used_for, "q=f32,k=f32,v=f16");
  EXPECT_EQ(leak.grade, Grade::confirmed);
  EXPECT_EQ(worker.executions(), 4u);  // polluter, victim; polluter; victim
}

TEST_F(AttributeTest, WithoutSetItIsNecessary) {
  SimulatedWorker worker(suite_, never);
  worker.weak_keys = true;
  worker.carriers.set.clear();
  EXPECT_EQ(attribute_pair(worker).grade, Grade::necessary);
}

TEST_F(AttributeTest, WithoutRestoreAMisusedCellIsCorrelated) {
  SimulatedWorker worker(suite_, never);
  worker.weak_keys = true;
  worker.carriers.restore.clear();
  worker.carriers.set.clear();
  const Attribution leak = attribute_pair(worker);
  EXPECT_EQ(leak.grade, Grade::correlated);
  EXPECT_EQ(leak.carrier, "module_cache");
  EXPECT_EQ(worker.executions(), 0u);
}

TEST_F(AttributeTest, ACarrierWhoseRestoringDoesNotHealIsNotNamed) {
  SimulatedWorker worker(suite_, [](const SimulatedRun& run) {
    return run.before.empty() ? Answer::right : Answer::drifted;
  });
  const Attribution leak = attribute_pair(worker);
  EXPECT_EQ(leak.grade, Grade::unnamed);
  EXPECT_EQ(leak.carrier, "");
}

TEST_F(AttributeTest, SettingThatDoesNotHarmLeavesItNecessary) {
  SimulatedWorker worker(suite_, [](const SimulatedRun& run) {
    return run.before.empty() ? Answer::right : Answer::drifted;
  });
  worker.module_cache_in_leak = true;  // restoring heals, but the cells are not the cause
  const Attribution leak = attribute_pair(worker);
  EXPECT_EQ(leak.grade, Grade::necessary);
  EXPECT_EQ(leak.carrier, "module_cache");
}

TEST_F(AttributeTest, ADeadVictimStillNamesTheCarrier) {
  SimulatedWorker worker(suite_, never);
  worker.weak_keys = true;
  worker.misuse_crashes = true;
  const Attribution leak = attribute_pair(worker);
  EXPECT_EQ(leak.carrier, "module_cache");
  EXPECT_EQ(leak.cell, "");
  EXPECT_EQ(leak.grade, Grade::confirmed);
}

TEST_F(AttributeTest, OneOfSeveralRepeatsThatDoesNotHealRefutes) {
  SimulatedWorker worker(suite_, [](const SimulatedRun& run) {
    return run.before.empty() || by_chance(0.5, run.execution) ? Answer::right : Answer::drifted;
  });
  EXPECT_EQ(attribute_pair(worker, 12).grade, Grade::unnamed);
}

/// A race that is won once, right after the restore, heals nothing.
TEST_F(AttributeTest, ACarrierThatHealedOnceByChanceIsNotNamed) {
  constexpr std::size_t kWon = 4;  // polluter, victim; victim; polluter, and this one
  SimulatedWorker worker(suite_, [](const SimulatedRun& run) {
    return run.before.empty() || run.execution == kWon ? Answer::right : Answer::drifted;
  });
  EXPECT_EQ(attribute_pair(worker).grade, Grade::unnamed);
}

TEST_F(AttributeTest, AStoppedRunProvesNothing) {
  SimulatedWorker worker(suite_, never);
  worker.weak_keys = true;
  const std::vector<Sequence> sequences = {Sequence::of(Order{0, 1})};
  const std::vector<SequenceResult> results = worker.execute(sequences);
  worker.stop();
  const Attribution leak =
      attribute({0}, 1, results[0].outcomes[1], worker, [](const Outcome&) { return true; });
  EXPECT_EQ(leak.grade, Grade::correlated);
}

/// A worker of several carriers, which case 0 leaves in the states `left`. Case 1 goes wrong while
/// the carrier `guilty` is left so.
class Carriers final : public Executor {
 public:
  explicit Carriers(std::vector<std::string> names) : carriers_{names, names, names, {}} {}

  std::map<std::string, std::string> left;
  std::string guilty;
  std::size_t executions = 0;
  std::size_t starts = 0;
  std::vector<std::string> restored;  ///< in the order of the requests

  std::vector<SequenceResult> execute(std::span<const Sequence> sequences) override {
    std::vector<SequenceResult> results;
    for (const Sequence& sequence : sequences) results.push_back(run(sequence));
    return results;
  }
  const CarrierAbilities& abilities() override { return carriers_; }

  static Outcome answer(bool wrong) {
    Outcome outcome;
    outcome.status = Status::ok;
    outcome.plan = wrong ? "wrong" : "right";
    return outcome;
  }

 private:
  SequenceResult run(const Sequence& sequence) {
    ++starts;
    std::map<std::string, std::string> state;
    SequenceResult result;
    for (const Step& step : sequence.steps) {
      bool wrong = false;
      if (step.kind == Step::Kind::restore) {
        restored.push_back(step.carrier);
        state.erase(step.carrier);
      } else if (step.kind == Step::Kind::set) {
        state[step.carrier] = step.state;
      } else if (step.kind == Step::Kind::snapshot) {
        result.snapshots.push_back({step.carrier, state[step.carrier]});
      } else {
        ++executions;
        wrong = step.case_index == 1 && !guilty.empty() && state[guilty] == left[guilty];
        if (step.case_index == 0) state.insert(left.begin(), left.end());
      }
      result.outcomes.push_back(answer(wrong));
    }
    return result;
  }

  CarrierAbilities carriers_;
};

Attribution attribute_cells(Carriers& worker, std::vector<CellSeen> cells,
                            std::size_t repeats = 1) {
  Outcome outcome = Carriers::answer(true);
  outcome.cells = std::move(cells);
  return attribute(
      {0}, 1, outcome, worker, [](const Outcome& seen) { return seen.plan == "right"; }, repeats);
}

const std::vector<std::string> kCarriers = {"cache", "constants", "environment", "locale"};
const CellSeen kMisused = {"cache", "c", false, "f16", "f32", "0"};
const CellSeen kRead = {"constants", "scale", false, "", "", "0"};
const CellSeen kLeftOver = {"environment", "VARIABLE", false, "1", "unset", "0"};

TEST(AttributeCarriersTest, AConfirmedMisuseEndsTheSearch) {
  Carriers worker(kCarriers);
  worker.left = {{"cache", "f16"}, {"constants", "2"}};
  worker.guilty = "cache";
  const Attribution leak = attribute_cells(worker, {kRead, kMisused});
  EXPECT_EQ(leak.carrier, "cache");
  EXPECT_EQ(leak.grade, Grade::confirmed);
  EXPECT_EQ(worker.restored, std::vector<std::string>{"cache"});
  EXPECT_EQ(worker.executions, 4u);
}

TEST(AttributeCarriersTest, AnInnocentMisuseDoesNotHideTheConstantThatWasRead) {
  Carriers worker(kCarriers);
  worker.left = {{"cache", "f16"}, {"constants", "2"}, {"environment", "1"}};
  worker.guilty = "constants";
  const Attribution leak = attribute_cells(worker, {kMisused, kRead, kLeftOver});
  EXPECT_EQ(leak.carrier, "constants");
  EXPECT_EQ(leak.cell, "scale");
  EXPECT_EQ(leak.grade, Grade::confirmed);
  EXPECT_EQ(worker.restored, (std::vector<std::string>{"cache", "environment", "constants"}));
}

TEST(AttributeCarriersTest, OfTwoLeftoversTheGuiltyOneIsNamed) {
  Carriers worker(kCarriers);
  worker.left = {{"locale", "C"}, {"environment", "1"}};
  worker.guilty = "environment";
  const Attribution leak =
      attribute_cells(worker, {{"locale", "name", false, "C", "en", "0"}, kLeftOver});
  EXPECT_EQ(leak.carrier, "environment");
  EXPECT_EQ(leak.built_for, "1");
  EXPECT_EQ(leak.used_for, "unset");
  EXPECT_EQ(leak.grade, Grade::confirmed);
}

TEST(AttributeCarriersTest, ALeftoverThatDoesNoHarmIsNotNamed) {
  Carriers worker(kCarriers);
  worker.left = {{"environment", "1"}, {"what nobody looks at", "2"}};
  worker.guilty = "what nobody looks at";
  const Attribution leak = attribute_cells(worker, {kLeftOver});
  EXPECT_EQ(leak.grade, Grade::unnamed);
  EXPECT_EQ(leak.carrier, "");
}

TEST(AttributeCarriersTest, WhatNoProbeSawIsTriedOnlyWhereTheHistoryTouchedIt) {
  Carriers worker(kCarriers);
  worker.left = {{"locale", "C"}};
  worker.guilty = "locale";
  const Attribution leak = attribute_cells(worker, {});
  EXPECT_EQ(leak.carrier, "locale");
  EXPECT_EQ(leak.cell, "");
  EXPECT_EQ(leak.grade, Grade::confirmed);
  EXPECT_EQ(worker.restored, std::vector<std::string>{"locale"});
  EXPECT_EQ(worker.executions, 4u);  // polluter; polluter, victim; victim
  EXPECT_EQ(worker.starts, 4u);
}

TEST(AttributeCarriersTest, NoCarrierIsGuiltyWhereTheHistoryTouchedNone) {
  Carriers worker(kCarriers);
  EXPECT_EQ(attribute_cells(worker, {}, 3).grade, Grade::unnamed);
  EXPECT_TRUE(worker.restored.empty());
  EXPECT_EQ(worker.executions, 3u) << "what shows by chance must be looked for as often";
}

}  // namespace
}  // namespace parity
