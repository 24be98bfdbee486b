// Attribution: each grade from what the worker can do, and no name for an innocent carrier.
#include "harness/attribute.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace parity
