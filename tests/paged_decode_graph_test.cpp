// Paged decode captured as a graph and replayed: the bits of the same launches without, whatever
// was captured before, in whatever state the workspace is.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "device/paged_decode_v2.hpp"
#include "tests/kernel_run.hpp"
#include "tests/paged_decode_run.hpp"

namespace parity {
namespace {

/// "kernel/dtypes/constants{}/recipe", {} before the axes behind `graph`.
std::string id(std::string_view pattern, bool graph) {
  return fmt::format(fmt::runtime(pattern), graph ? ",graph=1" : "");
}

constexpr const char* kV1 = "paged_decode_v1/q=f32,k=f16,v=f16/d=64,hq=4,hkv=2,page=8{}/ragged";
/// Split and merged.
constexpr const char* kV2 =
    "paged_decode_v2/q=f32,k=f16,v=f16/d=64,hq=4,hkv=2,page=8{},ppc=1/ragged";
/// Needs more workspace.
constexpr const char* kWide =
    "paged_decode_v2/q=f32,k=f16,v=f16/d=64,hq=16,hkv=2,page=8{},ppc=1/offset";
constexpr const char* kWhole =
    "paged_decode_v2/q=f32,k=f16,v=f16/d=64,hq=4,hkv=2,page=8{},ppc=100000/ragged";
constexpr const char* kTuned =
    "paged_decode_v2/q=f16,k=f16,v=f16/d=256,hq=2,hkv=1,page=16{},ppc=tuned/ragged";
constexpr const char* kCascade =
    "paged_decode_cascade/q=f32,k=f16,v=bf16/d=64,hq=4,hkv=2,page=8{},ppc=2/shared";
constexpr const char* kSparse =
    "paged_decode_sparse/q=f16,out=f32,k=f16,v=bf16/d=64,hq=8,hkv=2{}/ragged";
const std::vector<const char*> kAll = {kV1, kV2, kWhole, kTuned, kCascade, kSparse};

std::vector<std::vector<std::byte>> bits(const TensorList& outputs) {
  std::vector<std::vector<std::byte>> all;
  for (const NamedTensor& output : outputs)
    all.emplace_back(output.tensor.bytes().begin(), output.tensor.bytes().end());
  return all;
}

std::string cells(Runtime& runtime) {
  std::string text;
  for (const CellState& cell : runtime.graphs().snapshot()) text += cell.cell + "\n";
  return text;
}

TEST(PagedDecodeGraphTest, ReplayedLaunchesGiveTheBitsOfLaunches) {
  KernelRun run;
  for (const char* pattern : kAll) {
    const KernelCase plain(id(pattern, false));
    const KernelCase graph(id(pattern, true));
    EXPECT_EQ(graph.c.data_seed(), plain.c.data_seed()) << pattern;
    const TensorList want = run.run(plain);
    ASSERT_EQ(run.runtime().graphs().snapshot().size(), 0u) << pattern;
    const TensorList got = run.run(graph);
    EXPECT_NE(run.runtime().graphs().snapshot().size(), 0u) << pattern;
    EXPECT_EQ(bits(got), bits(want)) << pattern;
    expect_right(graph, got);
    run.runtime().graphs().restore();
  }
}

/// Each captures when nothing has been made yet, others come between, then the first again.
TEST(PagedDecodeGraphTest, AColdWorkspaceAndOneThatHasGrownGiveTheSameBits) {
  KernelRun fresh;
  const KernelCase first(id(kV2, true));
  const std::vector<std::vector<std::byte>> want = bits(fresh.run(KernelCase(id(kV2, false))));
  KernelRun run;
  EXPECT_EQ(bits(run.run(first)), want) << "module, workspace and plan are made while it records";
  expect_right(run, id(kWide, true));
  EXPECT_EQ(bits(run.run(first)), want) << "the block it was captured with is gone";
  run.runtime().workspaces().restore();
  EXPECT_EQ(bits(run.run(first)), want);
  run.runtime().modules().restore();
  EXPECT_EQ(bits(run.run(first)), want);
}

TEST(PagedDecodeGraphTest, TheSameLaunchAgainReplaysTheSameGraph) {
  KernelRun run;
  const KernelCase problem(id(kV1, true));
  const DeviceTensors buffers = run.place(problem);
  Runtime& runtime = run.runtime();
  for (const bool wrote : {true, false}) {
    runtime.trace().begin("run");
    EXPECT_EQ(problem.c.spec->launch(runtime, problem.c, buffers),
              "v1 bucket=2 threads=128 graph=1");
    runtime.backend().synchronize();
    const std::vector<CellTouch> touches = runtime.trace().take();
    ASSERT_EQ(touches.back().carrier, "graph_cache");
    EXPECT_EQ(touches.back().wrote, wrote);
    EXPECT_EQ(touches.back().used_for,
              "grid=10x1x1 block=128 page=8 kv_heads=2 group=2 window=0 k=1024,128,64 "
              "v=1024,128,64");
  }
  EXPECT_EQ(runtime.graphs().snapshot().size(), 1u);
}

/// Pools of equal size and another shape: the one captured first is replayed on both.
TEST(PagedDecodeGraphTest, ThePlantGivesAnotherShapesAnswer) {
  constexpr const char* kPlain =
      "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16{}/ragged";
  constexpr const char* kHeadsFirst =
      "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16,layout=hnd{}/ragged";
  for (const auto& [polluter, victim] : {std::pair{kPlain, kHeadsFirst}, {kHeadsFirst, kPlain}}) {
    const KernelCase problem(id(victim, true));
    KernelRun sound;
    sound.run(KernelCase(id(polluter, true)));
    const auto want = bits(sound.run(problem));
    KernelRun weak(Faults{.graph_without_shape = true});
    weak.run(KernelCase(id(polluter, true)));
    EXPECT_NE(bits(weak.run(problem)), want) << victim;
    EXPECT_EQ(weak.runtime().graphs().snapshot().size(), 1u) << cells(weak.runtime());
    weak.runtime().graphs().restore();
    EXPECT_EQ(bits(weak.run(problem)), want) << victim;
  }
}

TEST(PagedDecodeGraphTest, APlanIsMeasuredBeforeLaunchesAreRecordedOrRefused) {
  KernelRun run;
  run.runtime().autotune().set_measures(true);
  expect_right(run, id(kTuned, true));

  DecodeRun decode;
  Runtime& runtime = decode.runtime();
  runtime.autotune().set_measures(true);
  const PagedDecodeArgs args =
      decode.place(DecodeCase("q=f16,k=f16,v=f16/d=256,hq=2,hkv=1,page=16/ragged"));
  const HostPageTable table = read_page_table(runtime.backend(), args.table);
  const auto plan = [&] { PagedDecodeV2Plan(runtime, args, table, kTunedPagesPerChunk); };
  try {
    runtime.replay_as_graph(plan);
    FAIL() << "measured what did not run";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("pages_per_chunk is to be tuned"), std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(runtime.autotune().snapshot().empty());
  EXPECT_NO_THROW(plan());
}

TEST(PagedDecodeGraphTest, TheAxisIsAScheduleOfTwoValuesThatFullHasAndIdsLeaveOut) {
  EXPECT_THROW(parse_case(registry(), fmt::format(fmt::runtime(kV1), ",graph=0")), UsageError);
  EXPECT_THROW(parse_case(registry(), fmt::format(fmt::runtime(kV1), ",graph=2")), UsageError);
  const std::vector<Case> full = suite_cases(registry(), Suite::full);
  for (const KernelSpec& kernel : registry()) {
    if (!kernel.name.starts_with("paged_decode_")) continue;
    EXPECT_TRUE(std::ranges::any_of(full, [&](const Case& c) {
      return c.spec == &kernel && c.constant("graph") == 1;
    })) << kernel.name;
  }
}

}  // namespace
}  // namespace parity
