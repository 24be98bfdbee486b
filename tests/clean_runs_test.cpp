// A tool that cries wolf is switched off: clean runs accuse nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/blob_folder.hpp"
#include "harness/case.hpp"
#include "harness/investigate.hpp"
#include "harness/pack_builder.hpp"
#include "harness/plan.hpp"
#include "harness/supervisor.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/test_home.hpp"

namespace parity::test {
namespace {

constexpr std::uint64_t kRuns = 50;
constexpr std::size_t kCases = 12;

/// The cheapest of smoke.
std::vector<Case> cheap_cases() {
  std::vector<Case> cases = suite_cases(registry(), Suite::smoke);
  std::ranges::stable_sort(cases, {}, cost);
  cases.erase(cases.begin() + kCases, cases.end());
  return cases;
}

/// Real workers on the host backend.
class CleanRunsTest : public testing::Test {
 protected:
  CleanRunsTest() {
    SupervisorOptions options;
    for (const Case& c : cases_) {
      options.ids.push_back(c.id());
      all_.push_back(all_.size());
    }
    options.command = "'" PARITY_HARNESS "' worker";
    options.run_folder = folder_.path();
    options.jobs = 2;
    options.compile_jobs = 2;
    std::filesystem::create_directory(blob_path_);
    options.hello = {packs_.inputs.string(),
                     blob_path_.string(),
                     (test_home() / "modules").string(),
                     "host",
                     {}};
    judge_ = std::make_unique<Judge>(options.ids, PackReader(packs_.golden), blobs_);
    supervisor_ = std::make_unique<Supervisor>(std::move(options));
    supervisor_->prepare(all_);
  }

  TemporaryFolder folder_;
  std::vector<Case> cases_ = cheap_cases();
  std::vector<std::size_t> all_;
  PackPaths packs_ = ensure_packs(cases_, folder_.path(), {"clean_runs_test", "1"});
  std::filesystem::path blob_path_ = folder_.path() / "blobs";
  BlobFolder blobs_{blob_path_};
  std::unique_ptr<Judge> judge_;
  std::unique_ptr<Supervisor> supervisor_;
};

/// As `--permute-order --orders random:1 --seed N` does it; the runs alone, which depend on no
/// seed, are shared by all fifty.
TEST_F(CleanRunsTest, FiftyRunsOfTwelveCasesEachInAnotherOrderAccuseNothing) {
  std::vector<Order> orders;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed)
    orders.push_back(
        make_plan(cases_, Permute::order, {.tuscan = false, .random = 1}, seed).orders.at(0));
  for (const std::size_t c : all_) orders.push_back({c});
  const OrdersRun done = run_orders(orders, *supervisor_);
  ASSERT_EQ(done.results.size(), orders.size());
  ASSERT_TRUE(done.quarantined.empty());
  const std::size_t executions = supervisor_->executions();
  EXPECT_GE(executions, (kRuns + 1) * kCases);

  for (std::size_t run = 0; run < kRuns; ++run) {
    std::vector<Sequence> sequences = {done.sequences[run]};
    std::vector<SequenceResult> results = {done.results[run]};
    sequences.insert(sequences.end(), done.sequences.begin() + kRuns, done.sequences.end());
    results.insert(results.end(), done.results.begin() + kRuns, done.results.end());
    const Investigation found =
        investigate(cases_, sequences, results, *judge_, *supervisor_, InvestigateOptions{});
    for (const Finding& finding : found.findings)
      ADD_FAILURE() << "seed " << run + 1 << " accuses " << finding.victim << ": "
                    << finding.detail;
    for (const CaseSummary& summary : found.cases) {
      EXPECT_EQ(summary.verdict, Verdict::passed) << summary.id;
      EXPECT_EQ(summary.distinct_bits, 1u) << summary.id;
    }
  }
  EXPECT_EQ(supervisor_->executions(), executions) << "where nothing differs, nothing is asked";
}

}  // namespace
}  // namespace parity::test
