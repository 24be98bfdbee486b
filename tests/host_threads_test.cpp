// Several host threads: how sequences are cut, who counts as alone, what is covered, whom a crash
// in company is blamed on.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>

#include "harness/bystander.hpp"
#include "harness/evidence.hpp"
#include "harness/plan.hpp"
#include "harness/replay.hpp"
#include "harness/supervisor.hpp"
#include "simulated_worker.hpp"

namespace parity {
namespace {

std::vector<std::size_t> sizes(const Sequence& sequence) {
  std::vector<std::size_t> sizes;
  for (const StepGroup& group : sequence.groups()) sizes.push_back(group.size());
  return sizes;
}

TEST(SequenceGroupsTest, AreFullFromTheEndAndEndAtEveryOtherStep) {
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(sizes(Sequence::of(Order{0, 1, 2})), (Sizes{1, 1, 1}));
  EXPECT_EQ(sizes(Sequence::of(Order{0, 1, 2, 3, 4}, 0, 4)), (Sizes{1, 4}));
  EXPECT_EQ(sizes(Sequence::of(Order{0, 1, 2, 3}, 0, 4)), (Sizes{4}));
  EXPECT_EQ(sizes(Sequence::of(Order{0, 1}, 0, 4)), (Sizes{2}));
  EXPECT_EQ(sizes(Sequence::of(Order{}, 0, 4)), (Sizes{}));
  Sequence restored = Sequence::of(Order{0, 1, 2}, 0, 2);
  restored.steps.push_back(Step::restore("module_cache"));
  restored.steps.push_back(Step::run(3));
  EXPECT_EQ(sizes(restored), (Sizes{1, 2, 1, 1}));
}

TEST(SequenceGroupsTest, CopiesOfTheLastCaseStandBesideItOnly) {
  using Positions = std::vector<std::size_t>;
  EXPECT_EQ(Sequence::of(Order{7, 1, 7, 7}, 0, 3).last_copies(), (Positions{3, 2}));
  EXPECT_EQ(Sequence::of(Order{7, 7}).last_copies(), (Positions{1}));
}

class CompanyTest : public testing::Test {
 protected:
  /// Orders as `harness run --threads N` has them, investigated.
  Investigation found(const std::vector<Order>& orders, Leak leak, std::size_t threads = 4) {
    SimulatedWorker worker(suite_, std::move(leak));
    worker.host_threads = threads;
    Judge judge = suite_.judge();
    const OrdersRun run = run_orders(orders, worker);
    return investigate(suite_.cases(), run.sequences, run.results, judge, worker, {});
  }

  SimulatedSuite suite_{12};
  const Order all_ = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
};

/// `answer` for the case when the other runs at the same time.
Leak in_company(std::size_t c, std::size_t other, Answer answer) {
  return [=](const SimulatedRun& run) {
    return run.case_index == c && has(run.company, other) ? answer : Answer::right;
  };
}

TEST_F(CompanyTest, OnlyAGroupOfOneThatComesFirstIsAlone) {
  const std::vector<Sequence> sequences = {Sequence::of(Order{0, 1, 2, 3, 4}, 0, 4)};
  std::vector<SequenceResult> results(1);
  results[0].outcomes.resize(5);
  for (Outcome& outcome : results[0].outcomes) outcome.status = Status::ok;
  const Evidence evidence(5, sequences, results);
  EXPECT_EQ(evidence.of(0).at(0).position, 0u);
  EXPECT_TRUE(evidence.company(evidence.of(0).at(0)).empty());
  const Sighting& second = evidence.of(1).at(0);
  EXPECT_EQ(second.position, 4u);
  EXPECT_EQ(evidence.history(second), (Order{0, 2, 3, 4}));
  EXPECT_EQ(evidence.company(second).size(), 3u);
  EXPECT_EQ(never_alone(5, sequences, results), (std::vector<Order>{{1}, {2}, {3}, {4}}));
}

TEST_F(CompanyTest, TheLedgerClaimsNoOrderWithinAGroup) {
  const Plan plan = {{{0, 1, 2, 3}}, {0, 0, 0, 0}};
  Ledger ledger = plan.ledger(2);
  const std::vector<Sequence> sequences = {Sequence::of(plan.orders[0], 0, 2)};
  std::vector<SequenceResult> results(1);
  results[0].outcomes.resize(4);
  for (Outcome& outcome : results[0].outcomes) outcome.status = Status::ok;
  enter(ledger, sequences, results);
  EXPECT_EQ(ledger.adjacent(), (PairCount{12, 4, 4}));
  EXPECT_EQ(ledger.ordered(), (PairCount{12, 4, 4}));
  EXPECT_EQ(ledger.together(), (PairCount{6, 2, 2}));
}

TEST_F(CompanyTest, ThePlanOpensWithEachCaseInAllThreadsAtOnce) {
  const std::span<const Case> cases(suite_.cases().data(), 2);
  EXPECT_EQ(make_plan(cases, Permute::none, {}, 0, 3).orders,
            (std::vector<Order>{{0, 0, 0}, {1, 1, 1}, {0, 1}}));
}

TEST_F(CompanyTest, EachCaseRunsAloneFirstAndWhatCrashesThereIsLeftOut) {
  SimulatedWorker worker(suite_, [](const SimulatedRun& run) {
    return run.case_index == 1 ? Answer::crash : Answer::right;
  });
  worker.host_threads = 2;
  const OrdersRun run = run_orders(std::vector<Order>{{0, 1, 2, 3}}, worker);
  std::vector<Order> orders;
  for (const Sequence& sequence : run.sequences) {
    Order& order = orders.emplace_back();
    for (const Step& step : sequence.steps) order.push_back(step.case_index);
  }
  EXPECT_EQ(orders, (std::vector<Order>{{0}, {1}, {2}, {3}, {0, 2, 3}}));
  EXPECT_EQ(run.quarantined, (std::vector<std::size_t>{1}));
}

TEST_F(CompanyTest, ACrashInAGroupVoidsOnlyWhatComesAfterIt) {
  SimulatedWorker worker(suite_, in_company(1, 0, Answer::crash));
  worker.host_threads = 2;
  const OrdersRun run = run_orders(std::vector<Order>{{0, 1, 2, 3}}, worker);
  ASSERT_EQ(run.sequences.size(), 6u);
  EXPECT_EQ(run.sequences[5].steps.size(), 2u);
  EXPECT_EQ(run.sequences[5].steps[0].case_index, 2u);
  EXPECT_TRUE(run.quarantined.empty());
}

TEST_F(CompanyTest, WellInCompanyIsWell) {
  EXPECT_TRUE(found({all_}, [](const SimulatedRun&) { return Answer::right; }).findings.empty());
}

TEST_F(CompanyTest, WrongInCompanyIsShrunkToTheTwoAndNotProvedToBeACarrier) {
  const Investigation done = found({all_}, in_company(6, 5, Answer::wrong));
  ASSERT_EQ(done.findings.size(), 1u);
  const Finding& finding = done.findings[0];
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.sequence, ids(suite_, {5, 6}));
  EXPECT_EQ(finding.threads, 4u);
  EXPECT_EQ(finding.reproduced, (Rate{5, 5}));
  EXPECT_EQ(finding.grade, Grade::unnamed)
      << "restoring the module cache ends the company, and proves nothing";
}

TEST_F(CompanyTest, ALeakThatNeedsNoCompanyIsStillConfirmed) {
  SimulatedWorker worker(suite_, [](const SimulatedRun&) { return Answer::right; });
  worker.host_threads = 2;
  worker.weak_keys = true;
  Judge judge = suite_.judge();
  const Replay done = replay(suite_.cases(), Order{0, 1}, 5, judge, worker, "harness", "");
  ASSERT_TRUE(done.finding);
  EXPECT_EQ(done.finding->carrier, "module_cache");
  EXPECT_EQ(done.finding->grade, Grade::confirmed);
}

TEST_F(CompanyTest, ACaseThatBreaksInACopyOfItselfIsFoundInAnyCopy) {
  const Investigation done = found({{3, 3, 3, 3}}, [](const SimulatedRun& run) {
    return run.case_index == 3 && has(run.company, 3) && run.execution % 2 == 1 ? Answer::wrong
                                                                                : Answer::right;
  });
  ASSERT_EQ(done.findings.size(), 1u);
  EXPECT_EQ(done.findings[0].sequence, ids(suite_, {3, 3}));
  EXPECT_EQ(done.findings[0].reproduced, (Rate{5, 5}));
}

TEST_F(CompanyTest, ACrashIsBlamedOnThoseWithAPartInItAndTheOthersStandBeside) {
  const Investigation done = found({all_}, in_company(6, 5, Answer::crash));
  ASSERT_EQ(done.findings.size(), 1u);
  const Finding& finding = done.findings[0];
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.fingerprint, Fingerprint::crash);
  std::vector<std::string> sequence = finding.sequence;
  std::ranges::sort(sequence);
  std::vector<std::string> guilty = ids(suite_, {5, 6});
  std::ranges::sort(guilty);
  EXPECT_EQ(sequence, guilty);
  const std::set<std::string> also(finding.also.begin(), finding.also.end());
  EXPECT_TRUE(also.contains(suite_.id(4)) && also.contains(suite_.id(7)))
      << testing::PrintToString(finding.also);
  EXPECT_EQ(also.size(), 3u) << "the rest of the group of four";
}

TEST_F(CompanyTest, TwoCrashesInDifferentGroupsAreTwoFindings) {
  const Leak first = in_company(1, 0, Answer::crash);
  const Leak second = in_company(9, 8, Answer::crash);
  const Investigation done = found({all_}, [&](const SimulatedRun& run) {
    const Answer answer = first(run);
    return answer == Answer::right ? second(run) : answer;
  });
  ASSERT_EQ(done.findings.size(), 2u);
  EXPECT_EQ(done.findings[0].sequence.size(), 2u);
  EXPECT_EQ(done.findings[1].sequence.size(), 2u);
}

}  // namespace
}  // namespace parity
