// The comparing side of harness selftest: it can fail, in each way there is.
#include "harness/plants/expectation.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/case.hpp"

namespace parity {
namespace {

/// What a sound harness says of this plant: the first case that fits at each position, and every
/// other victim beside it.
RunReport right_report(const Plant& plant) {
  RunReport report;
  report.exit_code = 3;
  Finding& finding = report.findings.emplace_back();
  finding.kind = Kind::order_dependent;
  finding.fingerprint = Fingerprint::mismatch;
  for (const std::string_view glob : plant.sequence)
    for (const std::string_view id : plant.cases) {
      const bool other = glob.starts_with('!');
      if (matches(other ? glob.substr(1) : glob, std::string(id)) == other) continue;
      finding.sequence.emplace_back(id);
      break;
    }
  finding.victim = finding.sequence.back();
  for (const std::string_view id : plant.cases)
    if (id != finding.victim && id.find("v=f16/") == id.npos) finding.also.emplace_back(id);
  finding.carrier = plant.expected_carrier;
  finding.grade = Grade::confirmed;
  finding.reproduced = {5, 5};
  return report;
}

class PlantsExpectationTest : public testing::Test {
 protected:
  SelftestRow row() const { return compared(plant_, report_); }
  Finding& finding() { return report_.findings.front(); }

  const Plant& plant_ = plant_named("constant_left_over");
  RunReport report_ = right_report(plant_);
};

TEST_F(PlantsExpectationTest, WhatIsAsItMustBeIsFoundExactAndRight) {
  const SelftestRow seen = row();
  EXPECT_EQ(seen.missing, "");
  EXPECT_TRUE(seen.found && seen.exact && seen.carrier_right);
  EXPECT_EQ(seen.name, "constant_left_over");
  EXPECT_EQ(seen.leak_class, "last-writer");
  EXPECT_EQ(seen.carrier, "device_constants");
  EXPECT_EQ(seen.grade, "confirmed");
}

TEST_F(PlantsExpectationTest, AWrongExpectationIsNotMet) {
  Plant wrong = plant_;
  wrong.expected_carrier = "environment";
  EXPECT_EQ(compared(wrong, report_).missing, "names device_constants, not environment");
  EXPECT_FALSE(compared(wrong, report_).carrier_right);
  wrong = plant_;
  wrong.expected_fingerprint = "bits";
  EXPECT_FALSE(compared(wrong, report_).found);
  wrong = plant_;
  wrong.sequence = plant_named("two_polluters").sequence;
  EXPECT_FALSE(compared(wrong, report_).exact);
}

TEST_F(PlantsExpectationTest, NothingFoundIsMissed) {
  report_.findings.clear();
  EXPECT_FALSE(row().found);
  EXPECT_EQ(row().missing, "nothing was found");
}

TEST_F(PlantsExpectationTest, AnotherKindSymptomOrRoleIsMissed) {
  finding().kind = Kind::unstable;
  EXPECT_EQ(row().missing,
            "found as unstable, mismatch, victim, not as order_dependent, mismatch, victim");
  finding().kind = Kind::order_dependent;
  finding().role = Role::brittle;
  EXPECT_FALSE(row().found);
  finding().role = Role::victim;
  finding().fingerprint = Fingerprint::bits;
  EXPECT_FALSE(row().found);
}

TEST_F(PlantsExpectationTest, ABystanderBlamedOrAVictimSparedIsMissed) {
  const std::vector<std::string> also = finding().also;
  finding().also.emplace_back(plant_.cases[1]);
  EXPECT_EQ(row().missing, "blames what is well: " + std::string(plant_.cases[1]));
  finding().also = also;
  const std::string spared = finding().also.back();
  finding().also.pop_back();
  EXPECT_EQ(row().missing, "does not blame " + spared);
  EXPECT_FALSE(row().found);
}

TEST_F(PlantsExpectationTest, ASequenceThatIsTooLongOrWrongIsNotExact) {
  finding().sequence.insert(finding().sequence.begin(), std::string(plant_.cases[2]));
  EXPECT_TRUE(row().found);
  EXPECT_FALSE(row().exact);
  EXPECT_NE(row().missing.find("the sequence is"), std::string::npos);
  finding().sequence = {std::string(plant_.cases[2]), finding().victim};
  EXPECT_FALSE(row().exact) << "bf16 values pollute nothing";
}

TEST_F(PlantsExpectationTest, AWeakerGradeOrRateIsSaid) {
  finding().grade = Grade::necessary;
  EXPECT_EQ(row().missing, "the grade is necessary, not confirmed");
  finding().grade = Grade::confirmed;
  finding().reproduced = {4, 5};
  EXPECT_EQ(row().missing, "reproduced 4 of 5 only");
}

TEST_F(PlantsExpectationTest, PollutersOfWhichEachIsNeededMayComeInAnyOrder) {
  const Plant& two = plant_named("two_polluters");
  report_ = right_report(two);
  finding().also = {std::string(two.cases[3])};
  EXPECT_EQ(compared(two, report_).missing, "");
  std::swap(finding().sequence[0], finding().sequence[1]);
  EXPECT_EQ(compared(two, report_).missing, "");
  std::swap(finding().sequence[1], finding().sequence[2]);
  EXPECT_FALSE(compared(two, report_).exact);
}

TEST_F(PlantsExpectationTest, WhatShowsByChanceSaysItsRateAndMayBeUnstableWhereItIsLow) {
  const Plant& often = plant_named("race_90");
  report_ = right_report(often);
  finding().grade = Grade::unnamed;
  finding().reproduced = {18, 20};
  EXPECT_EQ(compared(often, report_).missing, "");
  EXPECT_EQ(compared(often, report_).rate, "18 of 20");
  finding().kind = Kind::unstable;
  EXPECT_FALSE(compared(often, report_).found) << "nine of ten are told from chance";
  const Plant& seldom = plant_named("race_30");
  report_ = right_report(seldom);
  finding().grade = Grade::unnamed;
  finding().kind = Kind::unstable;
  finding().reproduced = {3, 20};
  EXPECT_EQ(compared(seldom, report_).missing, "");
  finding().victim = finding().sequence.front();
  EXPECT_FALSE(compared(seldom, report_).found) << "the polluter is no victim";
}

TEST_F(PlantsExpectationTest, OfLaunchesTheStruckCasesAloneAreToBlame) {
  const Plant& overrun = plant_named("overrun");
  RunReport report;
  for (const std::size_t struck : {1, 3}) {
    Finding& one = report.findings.emplace_back();
    one.kind = Kind::hygiene;
    one.fingerprint = Fingerprint::guard;
    one.grade = Grade::unnamed;
    one.victim = overrun.cases[struck];
    one.sequence = {one.victim};
    one.reproduced = {6, 6};
  }
  EXPECT_EQ(compared(overrun, report).missing, "");
  report.findings.pop_back();
  EXPECT_FALSE(compared(overrun, report).found) << "one struck case is missing";
}

TEST_F(PlantsExpectationTest, AControlIsCleanOrAccused) {
  RunReport clean;
  EXPECT_TRUE(compared_control("no plant", clean).found);
  const SelftestRow accused = compared_control("no plant", report_);
  EXPECT_FALSE(accused.found);
  EXPECT_TRUE(accused.control);
  EXPECT_EQ(accused.missing.substr(0, 8), "accuses ");
  clean.exit_code = 1;
  EXPECT_EQ(compared_control("no plant", clean).missing, "exit code 1 without a finding");
}

TEST_F(PlantsExpectationTest, AWorkersBadEndAccusesNobodyAndIsExitCodeFive) {
  RunReport clean;
  clean.exit_code = 5;
  clean.worker_error = "the worker ended badly";
  SelftestReport report;
  report.rows = {compared_control("no plant", clean)};
  EXPECT_EQ(report.rows[0].missing, "");
  EXPECT_EQ(report.rows[0].worker_error, "the worker ended badly");
  EXPECT_EQ(report.false_accusations(), 0u);
  EXPECT_EQ(exit_code(report), 5);
  report_.worker_error = clean.worker_error;
  report.rows = {row()};
  EXPECT_EQ(report.plants_named(), 1u) << "the plant was found and named all the same";
  EXPECT_EQ(exit_code(report), 5);
  report.rows = {compared_control("no plant", report_)};
  EXPECT_EQ(report.false_accusations(), 1u) << "what is accused stays so";
  EXPECT_EQ(exit_code(report), 5);
}

TEST(SelftestReportTest, TheMostSeriousOfInterruptedAccusedAndMissedWins) {
  SelftestReport report;
  SelftestRow found;
  found.found = true;
  SelftestRow elsewhere;
  elsewhere.applicable = false;
  SelftestRow control;
  control.control = control.found = true;
  report.rows = {found, elsewhere, control};
  EXPECT_EQ(exit_code(report), 0);
  EXPECT_EQ(report.plants(), 1u) << "what is not on this backend is not counted as found";
  SelftestRow named_wrongly = found;
  named_wrongly.missing = "the grade is necessary, not confirmed";
  report.rows.push_back(named_wrongly);
  EXPECT_EQ(exit_code(report), 1);
  EXPECT_EQ(report.plants_found(), 2u);
  EXPECT_EQ(report.plants_named(), 1u);
  report.rows.back().missing.clear();
  report.rows[2].missing = "exit code 1 without a finding";
  EXPECT_EQ(exit_code(report), 1) << "a control that did not pass";
  report.rows[2].found = false;
  EXPECT_EQ(exit_code(report), 3);
  EXPECT_EQ(report.false_accusations(), 1u);
  report.interrupted = true;
  EXPECT_EQ(exit_code(report), 5);
}

}  // namespace
}  // namespace parity
