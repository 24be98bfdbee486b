// paged_decode_v2 with tuned plans on the host backend: the plan changes how, never what, and tuned
// cases of suite smoke can tell a weak key.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "device/paged_decode_v2.hpp"
#include "tests/paged_decode_run.hpp"

namespace parity {
namespace {

constexpr const char* kHalf = "q=f16,k=f16,v=f16/d=256,hq=2,hkv=1,page=16/ragged";
constexpr const char* kWide = "q=f16,k=f32,v=f16/d=256,hq=2,hkv=1,page=16/ragged";

Decoded results(DecodeRun& run, const DecodeCase& decode, std::int64_t pages_per_chunk,
                std::int64_t tile, TunedPlan* resolved = nullptr) {
  PagedDecodeArgs args = run.place(decode);
  args.tile = tile;
  const PagedDecodeV2Plan plan(
      run.runtime(), args, read_page_table(run.runtime().backend(), args.table), pages_per_chunk);
  if (resolved != nullptr) *resolved = {plan.split().pages_per_chunk, plan.tile()};
  paged_decode_v2(run.runtime(), args, plan);
  return run.outputs();
}

TunedPlan expect_bits_of_the_same_plan_fixed(DecodeRun& run, const char* id) {
  const DecodeCase decode(id);
  TunedPlan plan;
  const Decoded tuned = results(run, decode, kTunedPagesPerChunk, 4, &plan);
  const Decoded fixed = results(run, decode, plan.pages_per_chunk, plan.tile);
  EXPECT_EQ(tuned.out, fixed.out) << plan.canonical();
  EXPECT_EQ(tuned.lse, fixed.lse) << plan.canonical();
  expect_right(decode, tuned);
  return plan;
}

TEST(PagedDecodeTunedTest, ARecordedPlanGivesTheBitsOfTheSamePlanFixed) {
  DecodeRun run;
  EXPECT_EQ(expect_bits_of_the_same_plan_fixed(run, kHalf).tile, 8);
  EXPECT_EQ(expect_bits_of_the_same_plan_fixed(run, kWide).pages_per_chunk, 1);
}

TEST(PagedDecodeTunedTest, AMeasuredPlanGivesTheBitsOfTheSamePlanFixed) {
  DecodeRun run;
  run.runtime().autotune().set_measures(true);
  const TunedPlan plan = expect_bits_of_the_same_plan_fixed(run, kHalf);
  EXPECT_EQ(run.runtime().autotune().snapshot().at(0).content.substr(
                run.runtime().autotune().snapshot().at(0).cell.size()),
            " " + plan.canonical());
}

TEST(PagedDecodeTunedTest, EveryCandidateIsRight) {
  DecodeRun run;
  const DecodeCase decode(kHalf);
  const PagedDecodeArgs args = run.place(decode);
  const HostPageTable table = read_page_table(run.runtime().backend(), args.table);
  const TuningKey key =
      TuningKey::of("paged_decode_v2", args, table.indptr, run.runtime().backend().identity(), "");
  std::set<std::int64_t> tiles;
  for (const TunedPlan& plan : tuning_candidates(key)) {
    SCOPED_TRACE(plan.canonical());
    tiles.insert(plan.tile);
    expect_right(decode, results(run, decode, plan.pages_per_chunk, plan.tile));
  }
  EXPECT_EQ(tiles, (std::set<std::int64_t>{4, 8}));
}

TEST(PagedDecodeTunedTest, ThePlanDecidesTheTileAndSaysSo) {
  DecodeRun run;
  Runtime& runtime = run.runtime();
  const PagedDecodeArgs args = run.place(DecodeCase(kHalf));
  const HostPageTable table = read_page_table(runtime.backend(), args.table);
  EXPECT_EQ(paged_decode_v2(runtime, args, {runtime, args, table, kTunedPagesPerChunk}),
            "v2 ppc=4 tile=8 chunks=5 merge=0 bucket=2 threads=128");
  runtime.backend().synchronize();
  EXPECT_THROW(PagedDecodeV2Plan(runtime, args, table, kTunedPagesPerChunk - 1), UsageError);
}

/// D8: the key is of the code that runs, of the partial and of the merge.
TEST(PagedDecodeTunedTest, TheMemosKeyNamesDriverAndCode) {
  DecodeRun run;
  Runtime& runtime = run.runtime();
  const PagedDecodeArgs args = run.place(DecodeCase(kHalf));
  const HostPageTable table = read_page_table(runtime.backend(), args.table);
  const PagedDecodeV2Plan plan(runtime, args, table, kTunedPagesPerChunk);
  const std::string code =
      tuning_code({"paged_decode_v2", "split_kv_merge"}, runtime.toolchain().identity());
  EXPECT_EQ(runtime.autotune().snapshot().at(0).cell,
            TuningKey::of("paged_decode_v2", args, table.indptr, runtime.backend().identity(), code)
                .canonical());
}

/// Smoke cases of tuned plans.
std::vector<Case> tuned_cases() {
  std::vector<Case> cases = suite_cases(registry(), Suite::smoke);
  std::erase_if(cases, [](const Case& c) { return c.id().find("ppc=tuned") == std::string::npos; });
  return cases;
}

TuningKey key_of(DecodeRun& run, const Case& c) {
  const std::string id = c.id();
  std::string rest = id.substr(id.find('/') + 1);
  rest.erase(rest.find(",ppc=tuned"), std::string(",ppc=tuned").size());
  const PagedDecodeArgs args = run.place(DecodeCase(rest));
  return TuningKey::of(c.spec->name, args,
                       read_page_table(run.runtime().backend(), args.table).indptr,
                       run.runtime().backend().identity(), "");
}

TunedPlan recorded(const TuningKey& key) {
  AutotuneMemo memo{Faults{}};
  Trace trace;
  return memo.choose(key, RecordedClock(), trace);
}

/// Else the plants that weaken the memo's key would change nothing, on the host or on a GPU.
TEST(PagedDecodeTunedTest, SmokePairsDifferInDtypesOrPageSizeAloneAndInWhatIsChosen) {
  DecodeRun run;
  const std::vector<Case> cases = tuned_cases();
  ASSERT_EQ(cases.size(), 3u);
  for (const std::int64_t multiprocessors : {8, 108, 132, 148}) {
    std::set<std::string> pairs;
    for (const Case& a : cases)
      for (const Case& b : cases) {
        TuningKey key = key_of(run, a);
        TuningKey other = key_of(run, b);
        key.multiprocessors = other.multiprocessors = multiprocessors;
        if (a.id() >= b.id()) continue;
        TuningKey without = other;
        without.dtypes = key.dtypes;
        const bool dtypes_alone = without == key;
        without = other;
        without.page_size = key.page_size;
        const bool page_size_alone = without == key;
        if (dtypes_alone) pairs.insert("dtypes");
        if (page_size_alone) pairs.insert("page_size");
        if (!dtypes_alone && !page_size_alone) continue;
        EXPECT_NE(recorded(key), recorded(other)) << key.canonical();
      }
    EXPECT_EQ(pairs, (std::set<std::string>{"dtypes", "page_size"}));
  }
}

}  // namespace
}  // namespace parity
