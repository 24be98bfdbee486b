// A worker process whatever becomes of it; the fake worker's cases say what does.
#include "harness/worker_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/protocol.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
constexpr milliseconds kLimit{20000};

class WorkerProcessTest : public testing::Test {
 protected:
  WorkerCommand command(const std::string& line = PARITY_FAKE_WORKER) const {
    return {.command = line, .log = folder.path() / "log"};
  }
  Reply run(const std::string& id, milliseconds limit = kLimit) const {
    WorkerProcess worker(command());
    return worker.request(run_request(id, 0), limit);
  }
  std::string log() const {
    std::ifstream in(folder.path() / "log");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  TemporaryFolder folder;
};

/// Nothing but a zombie may be left of a process that was killed.
bool runs(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return static_cast<bool>(stat >> number >> name >> state) && state != "Z" && state != "X";
}

bool comes_true_within(milliseconds limit, const std::function<bool()>& condition) {
  const Clock::time_point end = Clock::now() + limit;
  while (!condition() && Clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
  return condition();
}

pid_t read_pid(const std::filesystem::path& path) {
  pid_t pid = 0;
  std::ifstream(path) >> pid;
  return pid;
}

TEST_F(WorkerProcessTest, AnswersLineByLine) {
  WorkerProcess worker(command());
  for (int i = 1; i <= 3; ++i) {
    const Reply reply = worker.request(run_request("fake/plain", 0), kLimit);
    ASSERT_EQ(reply.kind, Reply::Kind::answered) << reply.detail;
    EXPECT_EQ(parse_run_reply(reply.line).plan, "run " + std::to_string(i) + " poison 0");
  }
}

TEST_F(WorkerProcessTest, PrintsOnStdoutAndStderrGoToTheLogOnly) {
  const Reply reply = run("fake/chatty");
  EXPECT_EQ(parse_run_reply(reply.line).status, Status::ok) << reply.line;
  EXPECT_NE(log().find("on stdout"), std::string::npos);
  EXPECT_NE(log().find("on stderr"), std::string::npos);
}

TEST_F(WorkerProcessTest, WhatIsPrintedOfTheRequestIsNoEcho) {
  WorkerProcess worker(
      command(R"(sh -c 'read line; echo "got $line"; sleep 3.3; echo answer >&3; read bye')"));
  EXPECT_EQ(worker.request("hello", kLimit).line, "answer");
}

TEST_F(WorkerProcessTest, ASignalIsNamedWithTheLastLineLogged) {
  const Reply reply = run("fake/abort");
  EXPECT_EQ(reply.kind, Reply::Kind::died);
  EXPECT_EQ(reply.detail, "signal 6 (Aborted): about to abort");
}

TEST_F(WorkerProcessTest, ASanitizersSummaryTellsMoreThanTheLastLine) {
  WorkerProcess worker(command("sh -c 'echo SUMMARY: overflow >&2; echo ABORTING >&2; exit 1'"));
  EXPECT_EQ(worker.request("x", kLimit).detail, "exit status 1: SUMMARY: overflow");
}

TEST_F(WorkerProcessTest, AnExitStatusIsNamed) {
  EXPECT_EQ(run("fake/exit3").detail, "exit status 3");
}

TEST_F(WorkerProcessTest, AnEarlierProcessInTheSameLogIsNotQuoted) {
  run("fake/abort");
  EXPECT_EQ(run("fake/exit3").detail, "exit status 3");
}

TEST_F(WorkerProcessTest, DeathInTheMiddleOfALineIsDeath) {
  const Reply reply = run("fake/midline");
  EXPECT_EQ(reply.kind, Reply::Kind::died);
  EXPECT_EQ(reply.detail, "exit status 1 in the middle of a line: '{\"ok\":tr'");
}

TEST_F(WorkerProcessTest, AMissingProgramDiesWithTheShellsWords) {
  WorkerProcess worker(command("/no/such/program"));
  const Reply reply = worker.request("x", kLimit);
  EXPECT_EQ(reply.kind, Reply::Kind::died);
  EXPECT_NE(reply.detail.find("exit status 127: "), std::string::npos) << reply.detail;
  EXPECT_NE(reply.detail.find("/no/such/program"), std::string::npos) << reply.detail;
}

TEST_F(WorkerProcessTest, AHangIsTimedOutAndTheProcessIsGone) {
  WorkerProcess worker(command());
  const Clock::time_point start = Clock::now();
  EXPECT_EQ(worker.request(run_request("fake/hang", 0), milliseconds(300)).kind,
            Reply::Kind::timed_out);
  EXPECT_GE(Clock::now() - start, milliseconds(300));
  EXPECT_LT(Clock::now() - start, milliseconds(10000));
  EXPECT_EQ(worker.request(run_request("fake/plain", 0), kLimit).kind, Reply::Kind::died);
}

TEST_F(WorkerProcessTest, AFloodWithoutANewlineIsCutOff) {
  const Reply reply = run("fake/flood", milliseconds(60000));
  EXPECT_EQ(reply.kind, Reply::Kind::died);
  EXPECT_EQ(reply.detail, "flooded descriptor 3: 64 MiB without a newline");
}

TEST_F(WorkerProcessTest, ALineNobodyAskedForEndsTheWorker) {
  WorkerProcess worker(command());
  ASSERT_EQ(worker.request(run_request("fake/twice", 0), kLimit).kind, Reply::Kind::answered);
  const Reply reply = worker.request(run_request("fake/plain", 0), kLimit);
  EXPECT_EQ(reply.kind, Reply::Kind::died);
  EXPECT_EQ(reply.detail, "wrote a line that nobody asked for: '{\"ok\":true}?'");
}

TEST_F(WorkerProcessTest, ADeadWorkerIsSeenThoughItsChildHoldsTheDescriptor) {
  const Clock::time_point start = Clock::now();
  const Reply reply = run("fake/orphan", milliseconds(60000));
  EXPECT_EQ(reply.kind, Reply::Kind::died);
  EXPECT_EQ(reply.detail, "exit status 4");
  EXPECT_LT(Clock::now() - start, milliseconds(30000));
}

TEST_F(WorkerProcessTest, AWorkerThatNeverReadsDoesNotBlockTheParent) {
  WorkerProcess worker(command("sleep 100"));
  const std::string large(4 << 20, 'x');
  EXPECT_EQ(worker.request(large, milliseconds(300)).kind, Reply::Kind::timed_out);
}

TEST_F(WorkerProcessTest, WritingToADeadWorkerRaisesNoSignal) {
  WorkerProcess worker(command("sh -c 'exit 3'"));
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(worker.request(std::string(1 << 20, 'x'), kLimit).detail, "exit status 3");
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0);
}

TEST_F(WorkerProcessTest, ALargeRequestArrivesWhole) {
  WorkerProcess worker(command());
  const Reply reply = worker.request(run_request("fake/" + std::string(1 << 20, 'x'), 0), kLimit);
  EXPECT_EQ(parse_run_reply(reply.line).status, Status::ok) << reply.detail;
}

TEST_F(WorkerProcessTest, OnlyTheAllowListReachesTheWorker) {
  setenv("PARITY_SECRET", "1", 1);
  setenv("CUDA_VISIBLE_DEVICES", "0", 1);
  const std::string names = " " + parse_run_reply(run("fake/environment").line).plan;
  EXPECT_NE(names.find(" PATH "), std::string::npos) << names;
  EXPECT_NE(names.find(" CUDA_VISIBLE_DEVICES "), std::string::npos) << names;
  EXPECT_EQ(names.find("PARITY_SECRET"), std::string::npos) << names;
  unsetenv("PARITY_SECRET");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(WorkerProcessTest, NoOtherDescriptorReachesAWorkerThoughManyStartAtOnce) {
  const int inherited =
      open("/dev/null", O_RDONLY);  // as HDF5 opens its files: without close-on-exec
  std::vector<std::string> seen(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([this, i, &seen] {
      WorkerProcess worker(
          {.command = PARITY_FAKE_WORKER, .log = folder.path() / ("log" + std::to_string(i))});
      seen[i] =
          parse_run_reply(worker.request(run_request("fake/descriptors", 0), kLimit).line).plan;
    });
  }
  for (std::thread& thread : threads) thread.join();
  close(inherited);
  for (const std::string& descriptors : seen) EXPECT_EQ(descriptors, "0 1 2 3 ");
}

TEST_F(WorkerProcessTest, TheWholeGroupEndsWithTheWorker) {
  const std::filesystem::path note = folder.path() / "pid";
  std::optional<WorkerProcess> worker;
  worker.emplace(command("sh -c 'sleep 1000 & echo $! > " + note.string() + "; wait'"));
  ASSERT_TRUE(comes_true_within(kLimit, [&] { return read_pid(note) > 0; }));
  const pid_t grandchild = read_pid(note);
  ASSERT_TRUE(runs(grandchild));
  worker.reset();
  EXPECT_TRUE(comes_true_within(kLimit, [&] { return !runs(grandchild); }));
}

TEST_F(WorkerProcessTest, TheWorkerDiesWithItsParent) {
  const std::filesystem::path note = folder.path() / "pid";
  const pid_t parent = fork();
  if (parent == 0) {
    WorkerProcess worker(command("sh -c 'echo $$ > " + note.string() + "; exec sleep 1000'"));
    while (true) pause();
  }
  const bool started = comes_true_within(kLimit, [&] { return read_pid(note) > 0; });
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  ASSERT_TRUE(started);
  EXPECT_TRUE(comes_true_within(kLimit, [&] { return !runs(read_pid(note)); }));
}

TEST_F(WorkerProcessTest, FinishLetsAWorkerEndByItself) {
  const std::filesystem::path note = folder.path() / "ended";
  WorkerProcess worker(
      command("sh -c 'read line; sleep 0.1; echo \"$line\" > " + note.string() + "'"));
  worker.finish("farewell", kLimit);
  std::string line;
  std::ifstream(note) >> line;
  EXPECT_EQ(line, "farewell");
}

TEST_F(WorkerProcessTest, AnEmptyLogIsRemovedAndOneWithWordsIsKept) {
  run("fake/plain");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "log"));
  run("fake/chatty");
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "log"));
}

TEST_F(WorkerProcessTest, ALogThatCannotBeWrittenIsADeviceError) {
  EXPECT_THROW(WorkerProcess({.command = "true", .log = "/no/such/folder/log"}), DeviceError);
}

}  // namespace
}  // namespace parity
