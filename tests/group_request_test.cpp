// Groups of a sequence in fresh processes, with the fake worker whose cases say what becomes of it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/orders.hpp"
#include "harness/supervisor.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

enum CaseIndex : std::size_t { kPlain, kOther, kAbort, kHang, kUnsupported, kPolluter, kVictim };

class GroupRequestTest : public testing::Test {
 protected:
  SequenceResult run(const Order& order, std::size_t threads,
                     std::chrono::milliseconds deadline = std::chrono::seconds(30)) {
    SupervisorOptions options;
    options.command = PARITY_FAKE_WORKER;
    options.hello = {
        .pack = "", .blobs = "", .modules = folder_.path(), .backend = "host", .plants = {}};
    options.ids = {"fake/plain",       "fake/other",    "fake/abort", "fake/hang",
                   "fake/unsupported", "fake/polluter", "fake/victim"};
    options.run_folder = folder_.path() / "run";
    options.threads = threads;
    options.deadline = deadline;
    Supervisor supervisor(options);
    const std::vector<Sequence> sequences = {Sequence::of(order, 0, supervisor.threads())};
    const SequenceResult result = supervisor.execute(sequences).at(0);
    executions_ = supervisor.executions();
    return result;
  }
  static std::vector<std::string> plans(const SequenceResult& result) {
    std::vector<std::string> plans;
    for (const Outcome& outcome : result.outcomes) plans.push_back(outcome.plan);
    return plans;
  }

  TemporaryFolder folder_;
  std::size_t executions_ = 0;
};

TEST_F(GroupRequestTest, AGroupIsOneRequestAndPoisonGoesByPosition) {
  EXPECT_EQ(plans(run({kPlain, kOther, kPlain, kOther, kPlain}, 2)),
            (std::vector<std::string>{"run 1 poison 0", "one of 2 poison 1", "one of 2 poison 0",
                                      "one of 2 poison 1", "one of 2 poison 0"}));
  EXPECT_EQ(executions_, 5u);
}

TEST_F(GroupRequestTest, EachCaseHasItsOwnOutcome) {
  const SequenceResult result = run({kPlain, kUnsupported, kOther}, 3);
  EXPECT_EQ(result.outcomes[0].status, Status::ok);
  EXPECT_EQ(result.outcomes[1].status, Status::unsupported);
  EXPECT_EQ(result.outcomes[2].outputs.at(0).digest, digest("fake/other"));
}

TEST_F(GroupRequestTest, AProcessThatEndsInAGroupIsTheEndOfEachOfIt) {
  const SequenceResult result = run({kOther, kPlain, kAbort, kOther, kPlain}, 2);
  using S = Status;
  std::vector<S> statuses;
  for (const Outcome& outcome : result.outcomes) statuses.push_back(outcome.status);
  EXPECT_EQ(statuses, (std::vector{S::ok, S::crashed, S::crashed, S::not_run, S::not_run}));
  for (const std::size_t i : {1u, 2u})
    EXPECT_EQ(result.outcomes[i].detail,
              "while 2 ran at the same time: signal 6 (Aborted): about to abort");
  EXPECT_EQ(executions_, 1u);
}

TEST_F(GroupRequestTest, AGroupHasTheSumOfTheDeadlinesOfItsRuns) {
  const SequenceResult result = run({kPlain, kHang}, 2, std::chrono::milliseconds(300));
  for (const Outcome& outcome : result.outcomes) {
    EXPECT_EQ(outcome.status, Status::timed_out);
    EXPECT_EQ(outcome.detail, "while 2 ran at the same time: no answer within 600 ms");
  }
}

TEST_F(GroupRequestTest, ACrashInCompanyIsFoundByOrdersAndNobodyIsQuarantined) {
  SupervisorOptions options;
  options.command = PARITY_FAKE_WORKER;
  options.hello = {
      .pack = "", .blobs = "", .modules = folder_.path(), .backend = "host", .plants = {}};
  options.ids = {"fake/plain", "fake/polluter", "fake/victim", "fake/other"};
  options.run_folder = folder_.path() / "run";
  options.threads = 2;
  Supervisor supervisor(options);
  const OrdersRun run = run_orders(std::vector<Order>{{1, 2, 0, 3}}, supervisor);
  ASSERT_EQ(run.sequences.size(), 6u);  // four alone, the order, its tail
  EXPECT_EQ(run.results[4].outcomes[0].status, Status::crashed);
  EXPECT_EQ(run.results[5].outcomes.size(), 2u);
  EXPECT_TRUE(run.quarantined.empty());
}

}  // namespace
}  // namespace parity
