// Investigations that Ctrl-C ends: what was not confirmed is said to be so.
#include <gtest/gtest.h>

#include "harness/investigate.hpp"
#include "harness/replay.hpp"
#include "simulated_worker.hpp"

namespace parity {
namespace {

/// Ctrl-C after so many sequences.
class Interrupting final : public Executor {
 public:
  Interrupting(SimulatedWorker& worker, std::size_t sequences)
      : worker_(worker), left_(sequences) {}
  std::vector<SequenceResult> execute(std::span<const Sequence> sequences) override {
    std::vector<SequenceResult> results;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      if (left_ == 0) worker_.stop();
      if (left_ > 0) --left_;
      results.push_back(worker_.execute(sequences.subspan(i, 1)).at(0));
    }
    return results;
  }
  const CarrierAbilities& abilities() override { return worker_.abilities(); }
  bool stopped() const override { return worker_.stopped(); }

 private:
  SimulatedWorker& worker_;
  std::size_t left_;
};

/// The only finding where Ctrl-C came right after the plan.
Finding stopped_at_once(SimulatedSuite& suite, SimulatedWorker& worker) {
  const std::vector<Sequence> plan = tuscan_plan(12);
  const std::vector<SequenceResult> results = worker.execute(plan);
  worker.stop();
  Judge judge = suite.judge();
  const Investigation investigation =
      investigate(suite.cases(), plan, results, judge, worker, InvestigateOptions{});
  EXPECT_EQ(investigation.findings.size(), 1u);
  return investigation.findings.at(0);
}

TEST(StoppedInvestigationTest, AStoppedRunAccusesNobodyOfOrder) {
  SimulatedSuite suite(12);
  SimulatedWorker worker(
      suite, leak(7, Answer::wrong, [](const Order& before) { return has(before, 3); }));
  const Finding finding = stopped_at_once(suite, worker);
  EXPECT_EQ(finding.kind, Kind::unconfirmed);
  EXPECT_EQ(finding.reproduced, (Rate{0, 0}));
}

/// Runs the plan's results past an investigation that is stopped after `trials` sequences.
Finding stopped_after(std::size_t trials) {
  SimulatedSuite suite(12);
  SimulatedWorker worker(
      suite, leak(7, Answer::wrong, [](const Order& before) { return has(before, 3); }));
  const std::vector<Sequence> plan = tuscan_plan(12);
  const std::vector<SequenceResult> results = worker.execute(plan);
  Interrupting interrupting(worker, trials);
  Judge judge = suite.judge();
  std::size_t told = 0;
  InvestigateOptions options;
  options.found = [&](std::size_t count) { told = count; };
  const Investigation investigation =
      investigate(suite.cases(), plan, results, judge, interrupting, options);
  EXPECT_EQ(investigation.findings.size(), 1u);
  EXPECT_EQ(told, 1u);
  return investigation.findings.at(0);
}

TEST(StoppedInvestigationTest, WhereverItIsStoppedWhatWasNotConfirmedIsNotCalledUnstable) {
  bool shrunk = false;
  bool confirmed = false;
  for (std::size_t trials = 0; trials < 20; ++trials) {
    const Finding finding = stopped_after(trials);
    EXPECT_TRUE(finding.kind == Kind::unconfirmed || finding.kind == Kind::order_dependent)
        << trials << ": " << name(finding.kind);
    EXPECT_EQ(finding.kind == Kind::order_dependent, finding.reproduced.hits > 0) << trials;
    shrunk = shrunk || (finding.kind == Kind::unconfirmed && finding.sequence.size() == 2);
    confirmed = confirmed || finding.kind == Kind::order_dependent;
  }
  EXPECT_TRUE(shrunk) << "the best sequence so far is told";
  EXPECT_TRUE(confirmed);
}

TEST(StoppedInvestigationTest, StoppedVictimsOfOneCellAreOneFinding) {
  SimulatedSuite suite(12);
  SimulatedWorker worker(suite, [](const SimulatedRun&) { return Answer::right; });
  worker.weak_keys = true;
  const Finding finding = stopped_at_once(suite, worker);
  EXPECT_EQ(finding.kind, Kind::unconfirmed);
  EXPECT_EQ(finding.also.size(), 11u);
}

TEST(StoppedInvestigationTest, AStoppedReplayThatNeededMoreRunsIsUnconfirmed) {
  SimulatedSuite suite(12);
  SimulatedWorker worker(suite,
                         leak(7, Answer::hang, [](const Order& before) { return has(before, 3); }));
  Interrupting interrupting(worker, 5);
  Judge judge = suite.judge();
  const Replay done = replay(suite.cases(), {3, 7}, 1, judge, interrupting, "harness", "");
  ASSERT_TRUE(done.finding);
  EXPECT_EQ(done.finding->kind, Kind::unconfirmed);
}

}  // namespace
}  // namespace parity
