// The built-in worker from outside, on the host backend: real kernels, real processes.
#include "harness/worker.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "harness/blob_folder.hpp"
#include "harness/case.hpp"
#include "harness/pack_builder.hpp"
#include "harness/protocol.hpp"
#include "harness/worker_process.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::milliseconds kLimit{120000};

const std::string kF32 = "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=2,hkv=2,page=1/short";
const std::string kF16 = "paged_decode_v1/q=f32,k=f16,v=f16/d=64,hq=2,hkv=2,page=1/short";
const std::string kRefused = "paged_decode_v1/q=bf16,k=f16,v=f16/d=64,hq=2,hkv=2,page=1/short";

/// kRefused's pack holds 32-bit integers for q, which the launch function refuses.
void write_pack(const fs::path& path) {
  PackWriter writer(path, {.build = "test", .reference = "none"});
  for (const std::string& id : {kF32, kF16, kRefused}) {
    PackCase pack_case = build_case(parse_case(registry(), id));
    for (PackOutput& output : pack_case.outputs) output.expected = output.bound = std::nullopt;
    if (id == kRefused) {
      const Tensor integers(Dtype::i32, pack_case.inputs.at(0).type.shape);
      pack_case.inputs[0] = {"q", integers.type(), digest(integers), integers};
    }
    writer.add(pack_case);
  }
  writer.commit();
}

/// One folder for all tests, so that a module is compiled once.
class WorkerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    write_pack(folder_->path() / "inputs.h5");
    fs::create_directory(folder_->path() / "blobs");
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static Hello hello(std::vector<std::string> plants = {}) {
    return {.pack = (folder_->path() / "inputs.h5").string(),
            .blobs = (folder_->path() / "blobs").string(),
            .modules = (folder_->path() / "modules").string(),
            .backend = "host",
            .plants = std::move(plants)};
  }
  static std::unique_ptr<WorkerProcess> start() {
    return std::make_unique<WorkerProcess>(
        WorkerCommand{.command = PARITY_BUILTIN_WORKER, .log = folder_->path() / "log"});
  }
  static std::unique_ptr<WorkerProcess> greeted(std::vector<std::string> plants = {}) {
    auto worker = start();
    parse_hello_reply(ask(*worker, hello_request(hello(std::move(plants)))));
    return worker;
  }
  static std::string ask(WorkerProcess& worker, const std::string& request) {
    const Reply reply = worker.request(request, kLimit);
    EXPECT_EQ(reply.kind, Reply::Kind::answered) << reply.detail;
    return reply.line;
  }
  static Outcome run(WorkerProcess& worker, const std::string& id, unsigned poison = 0) {
    return parse_run_reply(ask(worker, run_request(id, poison)));
  }

  static std::unique_ptr<TemporaryFolder> folder_;
};

std::unique_ptr<TemporaryFolder> WorkerTest::folder_;

TEST_F(WorkerTest, HelloSaysWhatItIsAndWhatNobodyLooksAt) {
  auto worker = start();
  const HelloReply reply = parse_hello_reply(ask(*worker, hello_request(hello())));
  EXPECT_EQ(reply.backend, "host");
  EXPECT_FALSE(reply.device_arch.empty());
  EXPECT_EQ(std::count(reply.kernels.begin(), reply.kernels.end(), "paged_decode_v1"), 1);
  const std::vector<std::string> carriers = {
      "module_cache", "workspace_pool",    "autotune_memo",
      "graph_cache",  "device_constants",  "rng_streams",
      "environment",  "working_directory", "floating_point_environment"};
  EXPECT_EQ(reply.carriers.probe, carriers);
  EXPECT_EQ(reply.carriers.restore, carriers);
  std::vector<std::string> settable = carriers;
  std::erase(settable, "graph_cache");
  EXPECT_EQ(reply.carriers.set, settable);
  const std::vector<std::string>& dark = reply.carriers.not_probed;
  EXPECT_EQ(std::count(dark.begin(), dark.end(), "locale"), 1);
  EXPECT_EQ(std::count(dark.begin(), dark.end(), "driver_caches"), 0) << "no driver on the host";
  for (const std::string& carrier : carriers)
    EXPECT_EQ(std::count(dark.begin(), dark.end(), carrier), 0) << carrier;
}

TEST_F(WorkerTest, ARunGivesDigestsWhoseBytesAreInTheBlobFolder) {
  auto worker = greeted();
  const Outcome outcome = run(*worker, kF32);
  ASSERT_EQ(outcome.status, Status::ok) << outcome.detail;
  ASSERT_EQ(outcome.outputs.size(), 2u);
  EXPECT_EQ(outcome.outputs[0].name, "out");
  EXPECT_FALSE(outcome.plan.empty());
  EXPECT_EQ(outcome.unwritten, 0);
  EXPECT_TRUE(outcome.broken_guards.empty());
  EXPECT_TRUE(outcome.changed_inputs.empty());
  const PackCase golden = build_case(parse_case(registry(), kF32));
  const BlobFolder blobs(hello().blobs);
  for (std::size_t i = 0; i < 2; ++i) {
    const Tensor got = blobs.read(golden.outputs[i].type, outcome.outputs[i].digest);
    EXPECT_EQ(judge_output(golden.outputs[i], got).verdict, Verdict::passed);
  }
}

TEST_F(WorkerTest, BitsDependNeitherOnPoisonNorOnRepeats) {
  auto worker = greeted();
  const Outcome first = run(*worker, kF16, 0);
  ASSERT_EQ(first.status, Status::ok) << first.detail;
  EXPECT_EQ(run(*worker, kF16, 1).outputs, first.outputs);
  EXPECT_EQ(run(*worker, kF16, 1).outputs, first.outputs);
}

TEST_F(WorkerTest, CellsSayWhoWroteWhatTheRunRead) {
  auto worker = greeted();
  const Outcome first = run(*worker, kF16);
  ASSERT_EQ(first.cells.size(), 1u);
  EXPECT_EQ(first.cells[0].carrier, "module_cache");
  EXPECT_TRUE(first.cells[0].wrote);
  EXPECT_EQ(first.cells[0].writer, kF16);
  const Outcome other = run(*worker, kF32);
  ASSERT_EQ(other.cells.size(), 1u);
  EXPECT_NE(other.cells[0].cell, first.cells[0].cell);
  const Outcome again = run(*worker, kF16);
  ASSERT_EQ(again.cells.size(), 1u);
  EXPECT_FALSE(again.cells[0].wrote);
  EXPECT_EQ(again.cells[0].writer, kF16);
}

TEST_F(WorkerTest, TheWeakKeyLeaksTheFirstDtypeAndTheCellSaysSo) {
  const Outcome alone = run(*greeted({"weak_module_key"}), kF32);
  auto worker = greeted({"weak_module_key"});
  run(*worker, kF16);
  const Outcome after = run(*worker, kF32);
  EXPECT_NE(after.outputs, alone.outputs);
  ASSERT_EQ(after.cells.size(), 1u);
  EXPECT_EQ(after.cells[0].built_for, "q=f32,out=f32,k=f16,v=f16");
  EXPECT_EQ(after.cells[0].used_for, "q=f32,out=f32,k=f32,v=f32");
  EXPECT_EQ(after.cells[0].writer, kF16);
}

TEST_F(WorkerTest, RestoreUndoesAndSetRedoesTheLeakInAnotherProcess) {
  const Outcome alone = run(*greeted({"weak_module_key"}), kF32);
  auto worker = greeted({"weak_module_key"});
  run(*worker, kF16);
  const SnapshotReply left = parse_snapshot_reply(ask(*worker, snapshot_request("module_cache")));
  ASSERT_EQ(left.outcome.status, Status::ok) << left.outcome.detail;
  ask(*worker, restore_request("module_cache"));
  EXPECT_EQ(run(*worker, kF32).outputs, alone.outputs);
  auto fresh = greeted({"weak_module_key"});
  const std::string set = ask(*fresh, set_request("module_cache", left.state));
  ASSERT_EQ(parse_done_reply(set).status, Status::ok) << set;
  EXPECT_NE(run(*fresh, kF32).outputs, alone.outputs);
}

TEST_F(WorkerTest, AmbientStateThatIsNotFreshIsListedUntilItIsRestored) {
  auto worker = greeted();
  EXPECT_EQ(run(*worker, kF16).cells.size(), 1u) << "the module alone: a run changes nothing";
  const Outcome set = parse_done_reply(ask(
      *worker, set_request("working_directory", R"({"cells":[{"cell":"path","content":"/"}]})")));
  ASSERT_EQ(set.status, Status::ok) << set.detail;
  const Outcome elsewhere = run(*worker, kF16);
  ASSERT_EQ(elsewhere.cells.size(), 2u);
  EXPECT_EQ(elsewhere.cells[0].carrier, "module_cache") << "what is traced comes first";
  EXPECT_EQ(elsewhere.cells[1],
            (CellSeen{"working_directory", "path", false, "/", fs::current_path().string(), ""}));
  ask(*worker, restore_request("working_directory"));
  EXPECT_EQ(run(*worker, kF16).cells.size(), 1u);
}

TEST_F(WorkerTest, EveryCarrierIsMadeAgainInAnotherProcess) {
  auto worker = greeted();
  const HelloReply hello_said = parse_hello_reply(ask(*start(), hello_request(hello())));
  run(*worker, kF16);
  auto other = greeted();
  for (const std::string& carrier : hello_said.carriers.set) {
    const SnapshotReply left = parse_snapshot_reply(ask(*worker, snapshot_request(carrier)));
    ASSERT_EQ(left.outcome.status, Status::ok) << carrier << ": " << left.outcome.detail;
    const Outcome set = parse_done_reply(ask(*other, set_request(carrier, left.state)));
    EXPECT_EQ(set.status, Status::ok) << carrier << ": " << set.detail;
    EXPECT_EQ(parse_snapshot_reply(ask(*other, snapshot_request(carrier))).state, left.state);
  }
}

TEST_F(WorkerTest, DescribeAndPrepareWriteTheSourceTheyName) {
  auto worker = greeted();
  const auto modules = parse_describe_reply(ask(*worker, describe_request(kF32)));
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(modules[0].key,
            "paged_decode_v1<D=64,GROUP=1,SOFTCAP=0,TILE=4>(q=f32,out=f32,k=f32,v=f32)");
  EXPECT_EQ(parse_done_reply(ask(*worker, prepare_request(kF32))).status, Status::ok);
  EXPECT_TRUE(fs::exists(modules[0].source_path)) << modules[0].source_path;
  const SnapshotReply after = parse_snapshot_reply(ask(*worker, snapshot_request("module_cache")));
  EXPECT_EQ(after.state, R"({"cells":[]})") << "prepare must leave nothing in the process";
}

TEST_F(WorkerTest, WhatTheLaunchRefusesIsUnsupportedWithItsReason) {
  auto worker = greeted();
  const Outcome outcome = run(*worker, kRefused);
  EXPECT_EQ(outcome.status, Status::unsupported);
  EXPECT_NE(outcome.detail.find("q is i32"), std::string::npos) << outcome.detail;
  EXPECT_EQ(run(*worker, kF32).status, Status::ok);
}

TEST_F(WorkerTest, AWrongRequestIsAnsweredAndTheWorkerLivesOn) {
  auto worker = start();
  EXPECT_EQ(run(*worker, kF32).status, Status::error) << "before hello";
  parse_hello_reply(ask(*worker, hello_request(hello())));
  EXPECT_EQ(parse_done_reply(ask(*worker, "dance")).status, Status::error);
  EXPECT_EQ(parse_done_reply(ask(*worker, hello_request(hello()))).status, Status::error);
  EXPECT_EQ(run(*worker, "no_such_kernel//n=1/plain").status, Status::error);
  const std::string unpacked = "paged_decode_v1/q=f32,k=f32,v=f32/d=96,hq=2,hkv=2,page=1/short";
  EXPECT_EQ(run(*worker, unpacked).status, Status::error);
  const Outcome carrier = parse_done_reply(ask(*worker, restore_request("memo")));
  EXPECT_EQ(carrier.detail,
            "no carrier is called 'memo'; there are module_cache, workspace_pool, autotune_memo, "
            "graph_cache, device_constants, rng_streams, environment, working_directory, "
            "floating_point_environment");
  EXPECT_EQ(parse_done_reply(ask(*worker, set_request("module_cache", "?"))).status, Status::error);
  EXPECT_EQ(run(*worker, kF32).status, Status::ok);
}

TEST_F(WorkerTest, HelloFailsWithOneLine) {
  Hello missing = hello();
  missing.pack = "/no/such/pack.h5";
  Outcome refused = parse_done_reply(ask(*start(), hello_request(missing)));
  EXPECT_EQ(refused.status, Status::error);
  EXPECT_NE(refused.detail.find("/no/such/pack.h5"), std::string::npos) << refused.detail;
  refused = parse_done_reply(ask(*start(), hello_request(hello({"no_such_plant"}))));
  EXPECT_NE(refused.detail.find("no_such_plant"), std::string::npos) << refused.detail;
}

TEST_F(WorkerTest, ItEndsAtByeAndAtTheEndOfItsInput) {
  const std::string program = PARITY_BUILTIN_WORKER;
  const std::string bye =
      "echo '" + bye_request() + "' | " + program + " 3>&1 >/dev/null | grep -qx '{\"ok\":true}'";
  EXPECT_EQ(std::system(bye.c_str()), 0);
  EXPECT_EQ(std::system((program + " 3>/dev/null </dev/null").c_str()), 0);
}

TEST_F(WorkerTest, StartedByHandItSaysWhoSpeaksToIt) {
  const fs::path words = folder_->path() / "words";
  const std::string command =
      std::string(PARITY_BUILTIN_WORKER) + " 3>&- 2>" + words.string() + " </dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 5);
  std::ifstream in(words);
  std::string line;
  std::getline(in, line);
  EXPECT_NE(line.find("PROTOCOL.md"), std::string::npos) << line;
}

}  // namespace
}  // namespace parity
