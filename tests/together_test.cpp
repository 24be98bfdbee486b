// Cases at the same time in one built-in worker session on the host backend: real kernels, host
// threads, one runtime.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "device/sanitizers.hpp"
#include "harness/pack_builder.hpp"
#include "harness/worker_session.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

/// Two cases of one module, and three whose rows are split, one of them replayed as a graph: those
/// share the workspace and the module of the merge.
const std::string kLong = "paged_decode_v1/q=f32,k=f16,v=f16/d=64,hq=2,hkv=2,page=1/short";
const std::string kOther = "paged_decode_v1/q=f32,k=f16,v=f16/d=64,hq=2,hkv=2,page=8/ragged";
const std::string kSplit = "paged_decode_v2/q=f32,k=f16,v=f16/d=64,hq=2,hkv=2,page=8,ppc=1/ragged";
const std::string kGraph =
    "paged_decode_v2/q=f32,k=f16,v=f16/d=64,hq=2,hkv=2,page=8,graph=1,ppc=1/ragged";
const std::string kCoarse = "paged_decode_v2/q=f32,k=f16,v=f16/d=64,hq=2,hkv=2,page=8,ppc=3/ragged";

class TogetherTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    PackWriter writer(folder_->path() / "inputs.h5", {.build = "test", .reference = "none"});
    for (const std::string& id : {kLong, kOther, kSplit, kGraph, kCoarse}) {
      PackCase pack_case = build_case(parse_case(registry(), id));
      for (PackOutput& output : pack_case.outputs) output.expected = output.bound = std::nullopt;
      writer.add(pack_case);
    }
    writer.commit();
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

  static std::unique_ptr<TemporaryFolder> folder_;
};

std::unique_ptr<TemporaryFolder> TogetherTest::folder_;

/// How often each cell of the module cache was made.
std::map<std::string, int> modules_made(const std::vector<Outcome>& outcomes) {
  std::map<std::string, int> made;
  for (const Outcome& outcome : outcomes)
    for (const CellSeen& cell : outcome.cells)
      if (cell.carrier == "module_cache") made[cell.cell] += cell.wrote ? 1 : 0;
  return made;
}

// E5: cold, so that all threads ask for what nobody has compiled yet.
TEST_F(TogetherTest, SameBitsAsOneAfterTheOtherAndOneCompileAKey) {
  const std::vector<RunRequest> requests = {{kLong, 0},  {kOther, 1}, {kSplit, 0}, {kCoarse, 1},
                                            {kGraph, 1}, {kLong, 1},  {kGraph, 0}, {kCoarse, 0}};
  WorkerSession crowd(hello());
  const std::vector<Outcome> together = crowd.together(requests);
  WorkerSession serial(hello());
  ASSERT_EQ(together.size(), requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    SCOPED_TRACE(requests[i].id);
    ASSERT_EQ(together[i].status, Status::ok) << together[i].detail;
    const Outcome alone = serial.run(requests[i]);
    EXPECT_EQ(together[i].outputs, alone.outputs);
    EXPECT_EQ(together[i].plan, alone.plan);
    EXPECT_EQ(together[i].cells.size(), alone.cells.size());
    EXPECT_EQ(together[i].unwritten, 0);
    EXPECT_TRUE(together[i].broken_guards.empty());
    EXPECT_TRUE(together[i].changed_inputs.empty());
  }
  const std::map<std::string, int> made = modules_made(together);
  EXPECT_EQ(made.size(), 3u);
  for (const auto& [cell, times] : made) EXPECT_EQ(times, 1) << cell;
}

#if !PARITY_TSAN  // The fault is a data race; tests/module_cache_test.cpp shows its report.
TEST_F(TogetherTest, PlantedUnlockedFirstUseIsAnErrorWithTheCellInHand) {
  WorkerSession planted(hello({"unlocked_first_use"}));
  const std::vector<Outcome> together = planted.together(std::vector<RunRequest>(4, {kLong, 0}));
  int errors = 0;
  for (const Outcome& outcome : together) {
    ASSERT_EQ(outcome.cells.size(), 1u);
    EXPECT_EQ(outcome.cells[0].wrote, outcome.status == Status::ok);
    errors += outcome.status == Status::error ? 1 : 0;
  }
  EXPECT_EQ(errors, 3);
}
#endif

TEST_F(TogetherTest, ACaseThatThePackDoesNotHoldStartsNothing) {
  WorkerSession session(hello());
  const std::string absent = "paged_decode_v1/q=f32,k=f16,v=f16/d=64,hq=2,hkv=2,page=1/empty";
  EXPECT_THROW(session.together(std::vector<RunRequest>{{kLong, 0}, {absent, 0}}), std::exception);
  EXPECT_EQ(session.run({kLong, 0}).status, Status::ok);
}

}  // namespace
}  // namespace parity
