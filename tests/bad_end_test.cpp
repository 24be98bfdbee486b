// Workers that end badly after bye, which no case is to blame for, and workers that the end of a
// run finds waiting.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/orders.hpp"
#include "harness/supervisor.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

enum CaseIndex : std::size_t { kPlain, kLeaky, kAbortAtEnd, kLinger, kHang, kForgetful };

class BadEndTest : public testing::Test {
 protected:
  SupervisorOptions options(const std::string& manner = "") const {
    SupervisorOptions out;
    out.command = command(manner);
    out.hello = {.pack = "",
                 .blobs = "",
                 .modules = folder_.path().string(),
                 .backend = "host",
                 .plants = {}};
    out.ids = {"fake/plain",  "fake/leaky", "fake/abort_at_end",
               "fake/linger", "fake/hang",  "fake/forgetful"};
    out.run_folder = folder_.path() / "run";
    out.jobs = 2;
    out.deadline = milliseconds(30000);
    return out;
  }
  static std::string command(const std::string& manner) {
    return std::string(PARITY_FAKE_WORKER) + " " + manner;
  }
  std::string log(const std::string& number) const {
    return (folder_.path() / "run" / ("worker-" + number + ".log")).string();
  }

  TemporaryFolder folder_;
};

std::vector<Sequence> orders(const std::vector<Order>& all) {
  std::vector<Sequence> sequences;
  for (const Order& order : all) sequences.push_back(Sequence::of(order));
  return sequences;
}

TEST_F(BadEndTest, AWorkerThatEndsWellHasNoBadEnd) {
  Supervisor supervisor(options());
  supervisor.prepare(std::vector<std::size_t>{kPlain});
  supervisor.execute(orders({{kPlain, kPlain}, {kPlain}}));
  EXPECT_EQ(supervisor.bad_end(), "");
  EXPECT_TRUE(supervisor.complaints().empty());
}

TEST_F(BadEndTest, AnExitStatusAfterByeIsNamedWithWorkerAndLogAndItsCasesStand) {
  Supervisor supervisor(options());
  const auto results = supervisor.execute(orders({{kPlain}, {kLeaky, kPlain}}));
  EXPECT_EQ(results[1].outcomes[0].status, Status::ok);
  EXPECT_EQ(results[1].outcomes[1].status, Status::ok);
  EXPECT_EQ(supervisor.bad_end(), "the worker `" + command("") +
                                      "` ended badly after bye: exit status 23: SUMMARY: 8 "
                                      "bytes leaked; its log: " +
                                      log("00002"));
}

/// Two workers have the same to say, and end well.
TEST_F(BadEndTest, WhatAWorkerCouldNotDoAtByeIsAComplaintSaidOnce) {
  Supervisor supervisor(options());
  supervisor.execute(orders({{kForgetful}, {kPlain}, {kPlain, kForgetful}}));
  EXPECT_EQ(supervisor.complaints(), std::vector<std::string>{"the plans are lost"});
  EXPECT_EQ(supervisor.bad_end(), "");
}

TEST_F(BadEndTest, ASignalAfterByeIsOneToo) {
  Supervisor supervisor(options());
  supervisor.execute(orders({{kAbortAtEnd}}));
  EXPECT_NE(supervisor.bad_end().find("signal 6 (Aborted)"), std::string::npos)
      << supervisor.bad_end();
}

TEST_F(BadEndTest, TheFirstInPlanOrderIsNamedWhoeverEndedFirst) {
  Supervisor supervisor(options());
  supervisor.execute(orders({{kPlain, kPlain, kPlain, kPlain, kLeaky}, {kAbortAtEnd}}));
  EXPECT_NE(supervisor.bad_end().find("exit status 23"), std::string::npos) << supervisor.bad_end();
}

TEST_F(BadEndTest, AWorkerThatAlwaysEndsBadlyStartsNoRun) {
  Supervisor supervisor(options("leaky"));
  try {
    supervisor.execute(orders({{kPlain}}));
    FAIL() << "it ran";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("ended badly after bye: exit status 23"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(BadEndTest, AWorkerThatIsKilledForLingeringEndsWell) {
  Supervisor supervisor(options());
  const Clock::time_point start = Clock::now();
  supervisor.execute(orders({{kLinger}}));
  EXPECT_GE(Clock::now() - start, milliseconds(1900));
  EXPECT_EQ(supervisor.bad_end(), "");
}

class InterruptedTest : public BadEndTest {
 protected:
  SupervisorOptions watched(const std::string& manner = "") {
    SupervisorOptions out = options(manner);
    out.interrupted = &interrupted_;
    out.progress = [this](std::size_t, std::size_t, std::size_t, const Outcome&) {
      answered_ = true;
      answered_.notify_all();
    };
    return out;
  }
  /// How long `call` goes on once it is interrupted, which is a while after `when`.
  milliseconds goes_on(const std::atomic<bool>& when, const std::function<void()>& call) {
    Clock::time_point at;
    {
      std::jthread interrupt([&] {
        when.wait(false);
        std::this_thread::sleep_for(milliseconds(300));
        at = Clock::now();
        interrupted_ = true;
      });
      call();
    }
    return std::chrono::duration_cast<milliseconds>(Clock::now() - at);
  }

  std::atomic<bool> interrupted_ = false;
  std::atomic<bool> answered_ = false;
};

TEST_F(InterruptedTest, AHangingCaseIsNotWaitedForAndHasNotRun) {
  Supervisor supervisor(watched());
  std::vector<SequenceResult> results;
  const milliseconds waited = goes_on(answered_, [&] {
    results = supervisor.execute(orders({{kPlain, kHang, kPlain}}));
  });
  EXPECT_LT(waited, milliseconds(10000)) << "the deadline is 30 s";
  EXPECT_GE(waited, milliseconds(900)) << "an answer might have come";
  EXPECT_EQ(results[0].outcomes[0].status, Status::ok);
  EXPECT_EQ(results[0].outcomes[1].status, Status::not_run);
  EXPECT_EQ(results[0].outcomes[2].status, Status::not_run);
  EXPECT_EQ(supervisor.executions(), 1u);
  EXPECT_EQ(supervisor.bad_end(), "");
}

TEST_F(InterruptedTest, ASilentHelloIsNotWaitedFor) {
  Supervisor supervisor(watched("silent"));
  std::string words;
  const milliseconds waited = goes_on(true, [&] {
    try {
      supervisor.identity();
    } catch (const DeviceError& error) {
      words = error.what();
    }
  });
  EXPECT_LT(waited, milliseconds(10000)) << "the limit is 120 s";
  EXPECT_NE(words.find("did not answer hello: interrupted"), std::string::npos) << words;
}

}  // namespace
}  // namespace parity
