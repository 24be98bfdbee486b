// Sequences in fresh processes, with the fake worker whose cases say what becomes of it.
#include "harness/supervisor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/orders.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

using std::chrono::milliseconds;

enum CaseIndex : std::size_t {
  kPlain,
  kOther,
  kAbort,
  kHang,
  kNonsense,
  kRefused,
  kUnsupported,
  kPolluter,
  kVictim
};

class SupervisorTest : public testing::Test {
 protected:
  SupervisorOptions options(const std::string& manner = "", std::size_t jobs = 2) const {
    SupervisorOptions out;
    out.command = std::string(PARITY_FAKE_WORKER) + " " + manner;
    out.hello = {.pack = "",
                 .blobs = "",
                 .modules = folder.path().string(),
                 .backend = "host",
                 .plants = {}};
    out.ids = {"fake/plain",   "fake/other",       "fake/abort",    "fake/hang",  "fake/nonsense",
               "fake/refused", "fake/unsupported", "fake/polluter", "fake/victim"};
    out.run_folder = folder.path() / "run";
    out.jobs = jobs;
    out.deadline = milliseconds(30000);
    return out;
  }
  static Sequence sequence(std::vector<std::size_t> order, unsigned phase = 0) {
    return Sequence::of(order, phase);
  }
  static std::vector<Status> statuses(const SequenceResult& result) {
    std::vector<Status> out;
    for (const Outcome& outcome : result.outcomes) out.push_back(outcome.status);
    return out;
  }
  std::vector<std::string> notes(const std::string& name) const {
    std::ifstream in(folder.path() / name);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  TemporaryFolder folder;
};

/// The words of the DeviceError that `call` throws.
template <class Call>
std::string device_error(const Call& call) {
  try {
    call();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(SupervisorTest, EverySequenceHasAFreshProcessAndResultsStandInPlanOrder) {
  Supervisor supervisor(options());
  std::vector<Sequence> sequences;
  for (int i = 0; i < 6; ++i) {
    sequences.push_back(i % 2 == 0 ? sequence({kPlain, kOther}) : sequence({kOther}));
  }
  const std::vector<SequenceResult> results = supervisor.execute(sequences);
  ASSERT_EQ(results.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    ASSERT_EQ(results[i].outcomes.size(), i % 2 == 0 ? 2u : 1u);
    const std::string first = i % 2 == 0 ? "fake/plain" : "fake/other";
    EXPECT_EQ(results[i].outcomes[0].plan, "run 1 poison 0");
    EXPECT_EQ(results[i].outcomes[0].outputs.at(0).digest, digest(first));
  }
  EXPECT_EQ(supervisor.executions(), 9u);
  EXPECT_EQ(supervisor.process_starts(), 6u);
}

TEST_F(SupervisorTest, PoisonAlternatesFromThePhase) {
  Supervisor supervisor(options());
  const std::vector<Sequence> sequences = {sequence({kPlain, kPlain, kPlain}, 1)};
  const SequenceResult result = supervisor.execute(sequences).at(0);
  EXPECT_EQ(result.outcomes[0].plan, "run 1 poison 1");
  EXPECT_EQ(result.outcomes[1].plan, "run 2 poison 0");
  EXPECT_EQ(result.outcomes[2].plan, "run 3 poison 1");
}

TEST_F(SupervisorTest, ACrashEndsItsSequenceOnly) {
  Supervisor supervisor(options());
  const std::vector<Sequence> sequences = {sequence({kPlain, kAbort, kOther}), sequence({kOther})};
  const auto results = supervisor.execute(sequences);
  using S = Status;
  EXPECT_EQ(statuses(results[0]), (std::vector{S::ok, S::crashed, S::not_run}));
  EXPECT_EQ(results[0].outcomes[1].detail, "signal 6 (Aborted): about to abort");
  EXPECT_EQ(results[0].completed(), 2u);
  EXPECT_EQ(statuses(results[1]), (std::vector{S::ok}));
  EXPECT_EQ(supervisor.executions(), 2u);
}

TEST_F(SupervisorTest, ALateAnswerIsTimedOut) {
  SupervisorOptions quick = options();
  quick.deadline = milliseconds(1000);
  Supervisor supervisor(quick);
  const std::vector<Sequence> sequences = {sequence({kHang, kOther}), sequence({kOther})};
  const auto results = supervisor.execute(sequences);
  EXPECT_EQ(statuses(results[0]), (std::vector{Status::timed_out, Status::not_run}));
  EXPECT_EQ(results[0].outcomes[0].detail, "no answer within 1000 ms");
  EXPECT_EQ(statuses(results[1]), (std::vector{Status::ok}));
}

TEST_F(SupervisorTest, NonsenseIsACrashAndEndsTheProcess) {
  Supervisor supervisor(options());
  const std::vector<Sequence> sequences = {sequence({kNonsense, kOther})};
  const SequenceResult result = supervisor.execute(sequences).at(0);
  EXPECT_EQ(statuses(result), (std::vector{Status::crashed, Status::not_run}));
  EXPECT_EQ(result.outcomes[0].detail, "the worker wrote nonsense: not JSON: 'what?'");
}

TEST_F(SupervisorTest, ARefusalAndAnUnsupportedCaseEndNothing) {
  Supervisor supervisor(options());
  const std::vector<Sequence> sequences = {sequence({kRefused, kUnsupported, kPlain})};
  const SequenceResult result = supervisor.execute(sequences).at(0);
  EXPECT_EQ(statuses(result), (std::vector{Status::error, Status::unsupported, Status::ok}));
  EXPECT_EQ(result.outcomes[0].detail, "cannot do that");
}

TEST_F(SupervisorTest, AFaultMidRunIsOneCrashedAndTheRestRun) {
  Supervisor supervisor(options());
  const std::vector<Order> orders = {{kPlain, kAbort, kOther, kVictim}};
  const OrdersRun run = run_orders(orders, supervisor);
  std::vector<std::size_t> well;
  for (std::size_t i = 0; i < run.sequences.size(); ++i) {
    for (std::size_t j = 0; j < run.sequences[i].steps.size(); ++j) {
      const bool ok = run.results[i].outcomes[j].status == Status::ok;
      if (ok) well.push_back(run.sequences[i].steps[j].case_index);
    }
  }
  EXPECT_EQ(well, (std::vector<std::size_t>{kPlain, kOther, kVictim}));
  EXPECT_EQ(run.quarantined, (std::vector<std::size_t>{kAbort}));
}

TEST_F(SupervisorTest, ACrashThatNeedsAPolluterIsNotQuarantined) {
  Supervisor supervisor(options());
  const std::vector<Order> orders = {{kPolluter, kVictim, kPlain}};
  const OrdersRun run = run_orders(orders, supervisor);
  ASSERT_EQ(run.sequences.size(), 2u);
  EXPECT_EQ(statuses(run.results[1]), (std::vector{Status::ok, Status::ok}));
  EXPECT_TRUE(run.quarantined.empty());
}

TEST_F(SupervisorTest, CarriersAreSnapshottedSetAndRestoredInTheirSteps) {
  Supervisor supervisor(options());
  Sequence steps;
  steps.steps = {Step::set("past", "5"), Step::run(kPlain),      Step::snapshot("past"),
                 Step::restore("past"),  Step::snapshot("past"), Step::restore("other"),
                 Step::run(kPlain)};
  const SequenceResult result = supervisor.execute(std::vector{steps}).at(0);
  EXPECT_EQ(result.outcomes[1].plan, "run 6 poison 1");
  ASSERT_EQ(result.snapshots.size(), 2u);
  EXPECT_EQ(result.snapshots[0].state, "6");
  EXPECT_EQ(result.snapshots[1].state, "0");
  EXPECT_EQ(result.outcomes[5].status, Status::error);
  EXPECT_EQ(result.outcomes[5].detail, "no such carrier");
  EXPECT_EQ(result.outcomes[6].plan, "run 1 poison 0");
  EXPECT_EQ(supervisor.executions(), 2u);
}

TEST_F(SupervisorTest, AfterTheStopTimeNothingStarts) {
  Supervisor supervisor(options());
  supervisor.set_stop_at(std::chrono::steady_clock::now());
  const std::vector<Sequence> sequences = {sequence({kPlain, kOther})};
  const auto results = supervisor.execute(sequences);
  EXPECT_EQ(statuses(results[0]), (std::vector{Status::not_run, Status::not_run}));
  EXPECT_EQ(supervisor.process_starts(), 0u);
  supervisor.set_stop_at(std::chrono::steady_clock::time_point::max());
  EXPECT_EQ(statuses(supervisor.execute(sequences)[0]), (std::vector{Status::ok, Status::ok}));
}

TEST_F(SupervisorTest, AnInterruptEndsARunningSequenceAfterItsStep) {
  std::atomic<bool> interrupted = false;
  SupervisorOptions watched = options("", 1);
  watched.interrupted = &interrupted;
  watched.progress = [&](std::size_t done, std::size_t, std::size_t, const Outcome&) {
    interrupted = done == 2;
  };
  Supervisor supervisor(watched);
  const std::vector<Sequence> sequences = {sequence({kPlain, kPlain, kPlain}), sequence({kPlain})};
  const auto results = supervisor.execute(sequences);
  EXPECT_EQ(statuses(results[0]), (std::vector{Status::ok, Status::ok, Status::not_run}));
  EXPECT_EQ(statuses(results[1]), (std::vector{Status::not_run}));
}

TEST_F(SupervisorTest, ProgressCountsRunsUpToThosePlanned) {
  SupervisorOptions watched = options();
  std::vector<std::size_t> seen;
  watched.progress = [&](std::size_t done, std::size_t planned, std::size_t, const Outcome&) {
    EXPECT_EQ(planned, 4u);
    seen.push_back(done);
  };
  Supervisor supervisor(watched);
  supervisor.execute(std::vector{sequence({kPlain, kOther}), sequence({kOther, kPlain})});
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2, 3, 4}));
}

TEST_F(SupervisorTest, IdentityIsAskedOnce) {
  Supervisor supervisor(options());
  EXPECT_EQ(supervisor.identity().worker, "fake");
  EXPECT_EQ(supervisor.abilities().not_probed, (std::vector<std::string>{"everything_else"}));
  EXPECT_EQ(notes("hellos").size(), 1u);
  EXPECT_EQ(supervisor.process_starts(), 0u);
}

TEST_F(SupervisorTest, AWorkerThatCannotStartIsADeviceErrorWithItsWords) {
  Supervisor ended(options("exit"));
  EXPECT_NE(device_error([&] {
              ended.identity();
            }).find("did not answer hello: exit status 7: there is no such backend"),
            std::string::npos);
  Supervisor refused(options("refuse"));
  EXPECT_EQ(device_error([&] { refused.identity(); }), "the worker answered: no device was found");
  Supervisor old(options("old"));
  EXPECT_NE(device_error([&] { old.identity(); }).find("'protocol' is not 1"), std::string::npos);
  SupervisorOptions impatient = options("silent");
  impatient.prepare_limit = milliseconds(300);
  Supervisor silent(impatient);
  EXPECT_NE(device_error([&] {
              silent.execute(std::vector{sequence({kPlain})});
            }).find("no answer within 300 ms"),
            std::string::npos);
}

TEST_F(SupervisorTest, AWorkerThatWasWellOnceGetsASecondStart) {
  Supervisor flaky(options("flaky"));
  const auto results = flaky.execute(std::vector{sequence({kPlain})});
  EXPECT_EQ(statuses(results[0]), (std::vector{Status::ok}));
  EXPECT_EQ(notes("hellos").size(), 3u);
}

TEST_F(SupervisorTest, AWorkerThatStopsStartingEndsTheRunOfAllJobs) {
  Supervisor doomed(options("doomed"));
  const std::vector<Sequence> many(50, sequence({kPlain}));
  EXPECT_NE(device_error([&] { doomed.execute(many); }).find("exit status 7"), std::string::npos);
  EXPECT_LE(notes("hellos").size(), 10u);
}

TEST_F(SupervisorTest, PrepareReachesEveryCaseThoughOneEndsItsWorker) {
  Supervisor supervisor(options());
  supervisor.prepare(std::vector<std::size_t>{kPlain, kAbort, kOther, kNonsense, kVictim});
  std::vector<std::string> prepared = notes("prepared");
  std::sort(prepared.begin(), prepared.end());
  const std::vector<std::string> others = {"fake/other", "fake/plain", "fake/victim"};
  EXPECT_TRUE(std::includes(prepared.begin(), prepared.end(), others.begin(), others.end()));
  EXPECT_EQ(supervisor.process_starts(), 0u);
}

TEST_F(SupervisorTest, PrepareGivesEachWarningOnceInTheOrderOfTheCases) {
  Supervisor supervisor(options("warning"));
  const std::vector<std::string> want = {"no room here", "of fake/other", "of fake/plain"};
  EXPECT_EQ(supervisor.prepare(std::vector<std::size_t>{kOther, kPlain}), want);
  EXPECT_TRUE(Supervisor(options()).prepare(std::vector<std::size_t>{kPlain}).empty());
  EXPECT_TRUE(Supervisor(options("garbled")).prepare(std::vector<std::size_t>{kPlain}).empty());
}

TEST_F(SupervisorTest, DescribeNamesModules) {
  Supervisor supervisor(options());
  const std::vector<ModuleDescription> modules = supervisor.describe(kOther);
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(modules[0].key, "fake/other");
  EXPECT_EQ(modules[0].source_path, "/source");
}

}  // namespace
}  // namespace parity
