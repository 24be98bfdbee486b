// Reports that are read again say what was written.
#include "reports/report_reader.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/written_reports.hpp"

namespace parity {
namespace {

using Json = nlohmann::ordered_json;

using ReportReaderTest = WrittenReportTest;

TEST_F(ReportReaderTest, WhatIsReadIsWrittenByteForByte) {
  for (const RunReport& report : {clean_report(), planted_report(), rich_report()}) {
    const JoinedRuns joined = read(written(report));
    ASSERT_EQ(joined.runs.size(), 1u);
    EXPECT_EQ(written(joined.runs[0].report), written(report));
    EXPECT_EQ(joined.runs[0].source, (folder_.path() / "r.json").string());
  }
}

TEST_F(ReportReaderTest, KeysThatStandOnlySometimesAreRead) {
  const RunReport report = read(written(rich_report())).runs.at(0).report;
  EXPECT_EQ(report.build, "0123456789abcdef");
  EXPECT_EQ(report.not_probed, rich_report().not_probed);
  EXPECT_EQ(report.findings.at(4).threads, 4u);
  EXPECT_EQ(report.findings.at(0).threads, 1u);
  EXPECT_EQ(report.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(report.interrupted);
}

TEST_F(ReportReaderTest, TheExitCodeIsReadNotComputed) {
  RunReport report = clean_report();
  report.exit_code = 4;
  EXPECT_EQ(read(written(report)).runs.at(0).report.exit_code, 4);
}

TEST_F(ReportReaderTest, SelftestsAndNightsAreWrittenAsTheyWereRead) {
  const JoinedRuns selftests = read(selftest_json(selftest()));
  ASSERT_EQ(selftests.selftests.size(), 1u);
  EXPECT_EQ(selftest_json(selftests.selftests[0].report), selftest_json(selftest()));

  JoinedRuns night;
  night.commit = "9ff470d";
  night.steps = {{"audit", "harness audit", 0, "62 modules"}, {"killed", "x", -9, "\"no\"\n"}};
  const JoinedRuns again = read(night_json(night));
  EXPECT_EQ(again.commit, "9ff470d");
  EXPECT_EQ(night_json(again), night_json(night));
}

TEST_F(ReportReaderTest, NightInFull) {
  JoinedRuns night;
  night.commit = "9ff470d";
  night.steps = {{"audit", "harness audit", 3, "62 modules"}};
  EXPECT_EQ(night_json(night), R"json({
  "schema": "parity.night/1",
  "commit": "9ff470d",
  "steps": [
    {
      "name": "audit",
      "command": "harness audit",
      "exit_code": 3,
      "said": "62 modules"
    }
  ]
}
)json");
}

TEST_F(ReportReaderTest, TimesAreThoseOfKernelsAndOfSeveralRepetitionsTheMedian) {
  const JoinedRuns joined = read(kBenches);
  ASSERT_EQ(joined.times.size(), 2u);
  EXPECT_EQ(joined.times[0].kernel, "paged_decode_v2");
  EXPECT_EQ(joined.times[0].dtypes, "q=bf16,k=e4m3,v=e4m3");
  EXPECT_EQ(joined.times[0].benchmark,
            "paged_decode_v2/rows:8/pool:e4m3/tile:8/ppc:auto/manual_time");
  EXPECT_EQ(joined.times[0].nanoseconds, 2500);
  EXPECT_EQ(joined.times[0].of_ceiling, 0.5);
  EXPECT_EQ(joined.times[1].dtypes, "logits=f32");
  EXPECT_EQ(joined.times[1].nanoseconds, 7e6);
  for (const KernelTime& time : joined.times) {
    EXPECT_EQ(time.backend, "cuda");
    EXPECT_EQ(time.device, "Test GPU");
  }
}

TEST_F(ReportReaderTest, TimesThatTellNeitherDtypesNorDeviceGetNone) {
  Json json = Json::parse(kBenches);
  json["context"].erase("backend");
  json["context"].erase("device");
  json["benchmarks"][0]["label"] = "q=f32: splits of 4";
  json["benchmarks"][2].erase("label");
  for (const KernelTime& time : read(json.dump()).times)
    EXPECT_EQ(time.dtypes + time.backend + time.device, "") << time.benchmark;
}

TEST_F(ReportReaderTest, ABenchThatFailedIsNotLeftOut) {
  Json json = Json::parse(kBenches);
  json["benchmarks"][4]["error_occurred"] = true;
  json["benchmarks"][4]["error_message"] = "out is nan";
  EXPECT_EQ(refusal(json.dump()),
            "at benchmarks[4]: the bench judge/one_output failed (out is nan), and has no time: "
            "repair it, or leave it out; give a report as it was written");
}

/// As Google Benchmark writes it: without counters and with a time of 0.
TEST_F(ReportReaderTest, AKernelWhoseBenchFailedIsNotLeftOutWithItsCounters) {
  Json json = Json::parse(kBenches);
  Json& kernel = json["benchmarks"][0];
  kernel["error_occurred"] = true;
  kernel["error_message"] = "out is all zero";
  kernel["real_time"] = 0;
  kernel.erase("of_ceiling");
  EXPECT_TRUE(
      refusal(json.dump()).starts_with("at benchmarks[0]: the bench paged_decode_v2/rows:8/"))
      << refusal(json.dump());
}

TEST_F(ReportReaderTest, EqualReportsOfTwoMachinesAreJoined) {
  JoinedRuns night;
  night.commit = "9ff470d";
  night.steps = {{"audit", "harness audit", 0, "62 modules"}};
  JoinedRuns joined;
  for (const std::string& text : {written(clean_report()), selftest_json(selftest()),
                                  night_json(night), std::string(kBenches)})
    for (const char* const machine : {"a", "b"})
      read_into(joined, file(text, machine + std::to_string(text.size()) + ".json"));
  EXPECT_EQ(joined.runs.size(), 2u);
  EXPECT_EQ(joined.selftests.size(), 2u);
  EXPECT_EQ(joined.steps.size(), 2u);
  EXPECT_EQ(joined.times.size(), 4u);
}

TEST_F(ReportReaderTest, OneFileCountsOnceHoweverItIsCalled) {
  JoinedRuns joined;
  const std::filesystem::path path = file(written(clean_report()), "a.json");
  read_into(joined, path);
  std::filesystem::create_symlink(path, folder_.path() / "symbolic.json");
  std::filesystem::create_hard_link(path, folder_.path() / "hard.json");
  for (const char* const name : {"a.json", "./a.json", "symbolic.json", "hard.json"})
    EXPECT_THROW(read_into(joined, folder_.path() / name), UsageError) << name;
  EXPECT_EQ(joined.runs.size(), 1u);
}

TEST_F(ReportReaderTest, WhatWasRefusedMayBeReadOnceItIsMended) {
  JoinedRuns joined;
  EXPECT_THROW(read_into(joined, file("{")), DatasetError);
  read_into(joined, file(written(clean_report())));
  EXPECT_EQ(joined.runs.size(), 1u);
}

TEST_F(ReportReaderTest, NightsOfTwoCommitsAreNotJoined) {
  JoinedRuns night;
  night.commit = "9ff470d";
  JoinedRuns joined;
  read_into(joined, file(night_json(night)));
  night.commit = "1598093";
  EXPECT_THROW(read_into(joined, file(night_json(night), "other.json")), UsageError);
  EXPECT_EQ(joined.commit, "9ff470d");
}

}  // namespace
}  // namespace parity
