// Investigations: cells, baselines, what happens alone, and what a finding says.
#include "harness/investigate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "simulated_worker.hpp"

namespace parity {
namespace {

Answer never(const SimulatedRun&) {
  return Answer::right;
}

TEST(InvestigateTest, FiftyCleanRunsAccuseNothingAndRunNothing) {
  for (std::size_t run = 0; run < 50; ++run) {
    SimulatedSuite suite(2 + run % 13);
    SimulatedWorker worker(suite, never);
    const Investigation investigation = investigate_tuscan(suite, worker);
    EXPECT_TRUE(investigation.findings.empty());
    EXPECT_EQ(worker.sequences(), 0u);
    for (const CaseSummary& summary : investigation.cases) {
      EXPECT_EQ(summary.verdict, Verdict::passed);
      EXPECT_EQ(summary.distinct_bits, 1u);
      EXPECT_GE(summary.runs, suite.cases().size());
    }
  }
}

TEST(InvestigateTest, AWeakKeyIsOneFindingOnTheNearestPair) {
  SimulatedSuite suite(12);
  SimulatedWorker worker(suite, never);
  worker.weak_keys = true;
  const Investigation investigation = investigate_tuscan(suite, worker);
  ASSERT_EQ(investigation.findings.size(), 1u);
  const Finding& finding = investigation.findings.front();
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.fingerprint, Fingerprint::mismatch);
  EXPECT_EQ(finding.role, Role::victim);
  EXPECT_EQ(finding.sequence, ids(suite, {0, 1}));
  EXPECT_EQ(distance(suite.cases()[0], suite.cases()[1]), 1);
  EXPECT_EQ(finding.carrier, "module_cache");
  EXPECT_EQ(finding.cell, "simulated<d=64>");
  EXPECT_EQ(finding.built_for, "q=f32,k=f32,v=f32");
  EXPECT_EQ(finding.used_for, "q=f32,k=f32,v=f16");
  EXPECT_EQ(finding.grade, Grade::confirmed);
  EXPECT_EQ(finding.reproduced, (Rate{5, 5}));
  EXPECT_EQ(finding.alone, (Rate{0, 6}));
  EXPECT_GT(finding.error, finding.tolerance);
  EXPECT_EQ(finding.replay,
            "harness replay " + suite.id(0) + " " + suite.id(1) + " --repeat 20 --plant simulated");
  EXPECT_EQ(finding.contrast, "harness replay " + suite.id(1) + " --plant simulated");
  EXPECT_EQ(finding.not_probed, std::vector<std::string>{"rng"});
  ASSERT_EQ(finding.exposed.size(), 12u);
  EXPECT_EQ(finding.exposed.front(), "parity::simulated(q=f32,k=f32,v=f32)");
  // Every case pollutes every other of the cell.
  EXPECT_EQ(finding.also, ids(suite, {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  // 5 alone, 2 to shrink, 10 to confirm, 4 to name, 2 for each other victim.
  EXPECT_EQ(worker.executions(), 43u);
  for (const CaseSummary& summary : investigation.cases) {
    EXPECT_EQ(summary.verdict, Verdict::failed);
    EXPECT_GT(summary.distinct_bits, 1u);
  }
}

TEST(InvestigateTest, EachCellIsAFindingOfItsOwn) {
  SimulatedSuite suite(30);
  SimulatedWorker worker(suite, never);
  worker.weak_keys = true;
  const Investigation investigation = investigate_tuscan(suite, worker);
  ASSERT_EQ(investigation.findings.size(), 2u);
  std::vector<std::string> cells;
  for (const Finding& finding : investigation.findings) cells.push_back(finding.cell);
  std::sort(cells.begin(), cells.end());
  EXPECT_EQ(cells, (std::vector<std::string>{"simulated<d=128>", "simulated<d=64>"}));
}

TEST(InvestigateTest, AMisusedModuleThatCrashesIsClusteredByItsCell) {
  SimulatedSuite suite(6);
  SimulatedWorker worker(suite, never);
  worker.weak_keys = worker.misuse_crashes = true;
  std::vector<Sequence> plan;
  for (std::size_t a = 0; a < 6; ++a)
    for (std::size_t b = 0; b < 6; ++b)
      if (a != b) plan.push_back(Sequence::of(Order{a, b}));
  const Investigation investigation = investigate_plan(suite, worker, plan);
  ASSERT_EQ(investigation.findings.size(), 1u);
  const Finding& finding = investigation.findings.front();
  EXPECT_EQ(finding.kind, Kind::order_dependent);
  EXPECT_EQ(finding.fingerprint, Fingerprint::crash);
  EXPECT_EQ(finding.sequence, ids(suite, {0, 1}));
  EXPECT_EQ(finding.cell, "simulated<d=64>");
  EXPECT_EQ(finding.built_for, "q=f32,k=f32,v=f32");
  EXPECT_EQ(finding.grade, Grade::confirmed);
  EXPECT_EQ(finding.also.size(), 5u);
}

TEST(InvestigateTest, AWeakKeyAndADriftAreTwoFindings) {
  SimulatedSuite suite(30);
  SimulatedWorker worker(
      suite, leak(29, Answer::drifted, [](const Order& before) { return has(before, 2); }));
  worker.weak_keys = true;
  const Investigation investigation = investigate_tuscan(suite, worker);
  ASSERT_EQ(investigation.findings.size(), 3u);
  const auto drift =
      std::find_if(investigation.findings.begin(), investigation.findings.end(),
                   [](const Finding& f) { return f.fingerprint == Fingerprint::bits; });
  ASSERT_NE(drift, investigation.findings.end());
  EXPECT_EQ(drift->sequence, ids(suite, {2, 29}));
  EXPECT_EQ(drift->grade, Grade::unnamed);
}

TEST(InvestigateTest, AFlakyCaseBesideALeakIsUnstableAndNobodysVictim) {
  SimulatedSuite suite(28);
  SimulatedWorker worker(suite, [](const SimulatedRun& run) {
    return run.case_index == 27 && by_chance(0.5, run.execution) ? Answer::drifted : Answer::right;
  });
  worker.weak_keys = true;
  const Investigation investigation = investigate_tuscan(suite, worker);
  ASSERT_EQ(investigation.findings.size(), 2u);
  EXPECT_EQ(investigation.findings[0].kind, Kind::order_dependent);
  EXPECT_EQ(investigation.findings[0].also.size(), 26u);
  EXPECT_EQ(investigation.findings[1].kind, Kind::unstable);
  EXPECT_EQ(investigation.findings[1].sequence, ids(suite, {27}));
}

struct AloneCase {
  Answer answer;
  Kind kind;
  Fingerprint fingerprint;
};

TEST(InvestigateTest, WhatHappensAloneIsNamedByItsSymptom) {
  for (const AloneCase& one : {AloneCase{Answer::wrong, Kind::mismatch, Fingerprint::mismatch},
                               AloneCase{Answer::unwritten, Kind::hygiene, Fingerprint::unwritten},
                               AloneCase{Answer::crash, Kind::crash, Fingerprint::crash},
                               AloneCase{Answer::hang, Kind::timeout, Fingerprint::timeout},
                               AloneCase{Answer::refused, Kind::error, Fingerprint::error}}) {
    SimulatedSuite suite(8);
    const Finding finding =
        only_finding(leak(2, one.answer, [](const Order&) { return true; }), suite);
    EXPECT_EQ(finding.kind, one.kind);
    EXPECT_EQ(finding.fingerprint, one.fingerprint);
    EXPECT_EQ(finding.sequence, ids(suite, {2}));
    EXPECT_EQ(finding.alone.hits, finding.alone.runs);
    EXPECT_EQ(finding.contrast, "");
    EXPECT_EQ(finding.replay, "harness replay " + suite.id(2) + " --repeat 20 --plant simulated");
  }
}

TEST(InvestigateTest, BitsThatFollowThePoisonAreHygiene) {
  SimulatedSuite suite(12);
  const Finding finding = only_finding(
      [](const SimulatedRun& run) {
        return run.case_index == 4 && run.poison == 1 ? Answer::drifted : Answer::right;
      },
      suite);
  EXPECT_EQ(finding.kind, Kind::hygiene);
  EXPECT_EQ(finding.fingerprint, Fingerprint::bits);
  EXPECT_EQ(finding.sequence, ids(suite, {4}));
}

TEST(InvestigateTest, APlanWithoutABaselineGetsOneOnlyWhereItIsNeeded) {
  SimulatedSuite suite(8);
  SimulatedWorker worker(suite, leak(3, Answer::wrong, [](const Order&) { return true; }));
  const std::vector<Sequence> plan = {Sequence::of(Order{0, 1, 2, 3, 4, 5, 6, 7})};
  const Investigation investigation = investigate_plan(suite, worker, plan);
  ASSERT_EQ(investigation.findings.size(), 1u);
  EXPECT_EQ(investigation.findings[0].kind, Kind::mismatch);
  EXPECT_EQ(worker.executions(), 5u);
}

TEST(InvestigateTest, OneOrderIsEnoughToFindAnOrderDependence) {
  SimulatedSuite suite(8);
  SimulatedWorker worker(
      suite, leak(6, Answer::wrong, [](const Order& before) { return has(before, 2); }));
  const std::vector<Sequence> plan = {Sequence::of(Order{0, 1, 2, 3, 4, 5, 6, 7})};
  const Investigation investigation = investigate_plan(suite, worker, plan);
  ASSERT_EQ(investigation.findings.size(), 1u);
  EXPECT_EQ(investigation.findings[0].kind, Kind::order_dependent);
  EXPECT_EQ(investigation.findings[0].sequence, ids(suite, {2, 6}));
}

TEST(InvestigateTest, OnePolluterAmong200CostsFewSequences) {
  SimulatedSuite suite(200);
  SimulatedWorker worker(
      suite, leak(120, Answer::wrong, [](const Order& before) { return has(before, 60); }));
  Order order(200);
  for (std::size_t i = 0; i < 200; ++i) order[i] = i;
  const Investigation investigation = investigate_plan(suite, worker, {Sequence::of(order)});
  ASSERT_EQ(investigation.findings.size(), 1u);
  EXPECT_EQ(investigation.findings[0].sequence, ids(suite, {60, 120}));
  // 5 alone, 3 suspects, the predecessor, 8 halvings, 5 to confirm, 2 that refute the module cache.
  EXPECT_LE(worker.sequences(), 24u);
  EXPECT_LE(worker.executions(), 170u);
}

TEST(InvestigateTest, EqualRunsGiveEqualFindings) {
  const auto investigate_once = [] {
    SimulatedSuite suite(30);
    SimulatedWorker worker(
        suite, leak(29, Answer::drifted, [](const Order& before) { return has(before, 2); }));
    worker.weak_keys = true;
    std::string text;
    for (const Finding& finding : investigate_tuscan(suite, worker).findings)
      text += finding.replay + finding.detail + finding.cell + "\n";
    return text;
  };
  EXPECT_EQ(investigate_once(), investigate_once());
}

TEST(InvestigateTest, ACaseThatNeverRanIsNotRun) {
  SimulatedSuite suite(3);
  SimulatedWorker worker(suite, never);
  const Investigation investigation = investigate_plan(suite, worker, {Sequence::of(Order{0, 1})});
  EXPECT_EQ(investigation.cases[2].verdict, Verdict::not_run);
  EXPECT_EQ(investigation.cases[2].runs, 0u);
}

}  // namespace
}  // namespace parity
