// The table of harness selftest, to the letter.
#include "reports/selftest_writer.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace parity {
namespace {

SelftestRow plant_row() {
  SelftestRow row;
  row.leak_class = "first-wins";
  row.name = "weak_module_key";
  row.found = row.exact = row.carrier_right = true;
  row.carrier = "module_cache";
  row.grade = "confirmed";
  row.executions = 45;
  row.process_starts = 20;
  row.seconds = 4.26;
  row.command = "harness run --permute-order --plant weak_module_key";
  return row;
}

SelftestRow control_row() {
  SelftestRow row;
  row.leak_class = "clean";
  row.name = "no plant";
  row.control = true;
  row.found = true;
  row.executions = 156;
  row.process_starts = 12;
  return row;
}

TEST(SelftestWriterTest, ColumnsStandUnderTheirNames) {
  SelftestRow race = plant_row();
  race.leak_class = "race";
  race.name = "race_90";
  race.carrier = "";
  race.grade = "unnamed";
  race.rate = "18 of 20";
  SelftestRow elsewhere = plant_row();
  elsewhere.name = "last_error_left_over";
  elsewhere.applicable = false;
  EXPECT_EQ(
      selftest_heading() + selftest_line(control_row()) + selftest_line(plant_row()) +
          selftest_line(race) + selftest_line(elsewhere),
      "class       plant                           found  sequence  carrier                     "
      "grade       executions  starts  seconds\n"
      "clean       no plant                        clean                                        "
      "                   156      12      0.0\n"
      "first-wins  weak_module_key                 yes    exact     module_cache                "
      "confirmed           45      20      4.3\n"
      "race        race_90                         yes    exact     unnamed                     "
      "18 of 20            45      20      4.3\n"
      "first-wins  last_error_left_over            not on this backend\n");
}

TEST(SelftestWriterTest, WhatIsMissingStandsUnderItsRowAndAtTheEnd) {
  SelftestRow missed = plant_row();
  missed.found = missed.exact = missed.carrier_right = false;
  missed.missing = "nothing was found";
  EXPECT_NE(selftest_line(missed).find("\n            nothing was found\n"), std::string::npos);
  SelftestRow accused = control_row();
  accused.found = false;
  accused.missing = "accuses A";
  accused.command = "harness run --permute-order";
  SelftestReport report;
  report.rows = {accused, plant_row(), missed};
  EXPECT_EQ(selftest_summary(report),
            "falsely accused: no plant: accuses A\n"
            "   again   harness run --permute-order\n"
            "missed: weak_module_key: nothing was found\n"
            "   again   harness run --permute-order --plant weak_module_key\n"
            "1 of 2 plants found, 1 exactly named; 1 false accusation\n");
}

TEST(SelftestWriterTest, APlantThatWasNotFoundIsNeverGreen) {
  SelftestRow missed = plant_row();
  missed.found = false;  // And nobody says what is missing.
  SelftestReport report;
  report.rows = {control_row(), missed};
  EXPECT_EQ(report.plants_named(), 0u);
  EXPECT_EQ(exit_code(report), 1);
  EXPECT_EQ(selftest_summary(report),
            "missed: weak_module_key\n"
            "   again   harness run --permute-order --plant weak_module_key\n"
            "0 of 1 plants found, 0 exactly named; 0 false accusations\n");
}

TEST(SelftestWriterTest, AWorkerErrorIsNoAccusation) {
  SelftestRow row = control_row();
  row.worker_error = "the worker ended badly";
  row.command = "harness run --permute-order";
  EXPECT_NE(selftest_line(row).find("\n            the worker ended badly\n"), std::string::npos);
  EXPECT_EQ(selftest_line(row).find("clean ", 12), std::string::npos) << selftest_line(row);
  SelftestReport report;
  report.rows = {row, plant_row()};
  EXPECT_EQ(selftest_summary(report),
            "worker error: no plant: the worker ended badly\n"
            "   again   harness run --permute-order\n"
            "1 of 1 plants found, 1 exactly named; 0 false accusations\n");
  const nlohmann::json json = nlohmann::json::parse(selftest_json(report));
  EXPECT_EQ(json["rows"][0]["worker_error"], "the worker ended badly");
  EXPECT_FALSE(json["rows"][1].contains("worker_error"));
  EXPECT_EQ(json["exit_code"], 5);
}

TEST(SelftestWriterTest, JsonHoldsAllButTheSeconds) {
  SelftestReport report;
  report.backend = "host";
  report.rows = {control_row(), plant_row()};
  const std::string text = selftest_json(report);
  EXPECT_EQ(text.find("seconds"), std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json["schema"], "parity.selftest/1");
  EXPECT_EQ(json["rows"][1]["name"], "weak_module_key");
  EXPECT_EQ(json["rows"][1]["carrier_right"], true);
  EXPECT_EQ(json["plants"], 1);
  EXPECT_EQ(json["named"], 1);
  EXPECT_EQ(json["false_accusations"], 0);
  EXPECT_EQ(json["exit_code"], 0);
}

}  // namespace
}  // namespace parity
