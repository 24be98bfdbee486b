// harness report from outside: what was written is joined, checked and written as pages.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/harness_process.hpp"
#include "tests/written_reports.hpp"

namespace parity::test {
namespace {

namespace fs = std::filesystem;

class ReportCommandTest : public ::testing::Test {
 protected:
  Ran report(const std::string& arguments) const {
    return run_harness(folder_.path(), "report " + arguments);
  }
  /// A path below the test's own folder.
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    write_report(text, path(name));
    return path(name);
  }
  void expect_refused(const std::string& arguments, int exit_code, const std::string& part) const {
    const Ran ran = report(arguments);
    EXPECT_EQ(ran.exit_code, exit_code) << arguments << ran.out << ran.err;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
    EXPECT_EQ(ran.out, "");
  }

  TemporaryFolder folder_;
};

TEST_F(ReportCommandTest, PagesAreThoseOfTheWriters) {
  const std::string run = file("run.json", written(planted_report()));
  const std::string selftests = file("selftest.json", selftest_json(selftest()));
  const Ran ran = report(run + " " + selftests + " --commit 9ff470d --junit " + path("j.xml") +
                         " --markdown " + path("s.md"));
  EXPECT_EQ(ran.exit_code, 0) << "the verdict is the run's, not the report's\n" << ran.err;
  EXPECT_EQ(ran.out + ran.err, "");
  JoinedRuns joined;
  joined.commit = "9ff470d";
  read_into(joined, run);
  read_into(joined, selftests);
  std::ostringstream junit;
  std::ostringstream markdown;
  make_junit_writer()->write(joined, junit);
  make_markdown_writer()->write(joined, markdown);
  EXPECT_EQ(read_file(path("j.xml")), junit.str());
  EXPECT_EQ(read_file(path("s.md")), markdown.str());
}

TEST_F(ReportCommandTest, WithoutAPageAllIsPrinted) {
  RunReport run = planted_report();
  run.findings[0].detail = "\x1b[31m";
  JoinedRuns night;
  night.steps = {{"audit", "harness audit", 0, "62 modules"},
                 {"smoke", "harness --permute-order", 3, ""}};
  const Ran ran =
      report(file("a.json", written(clean_report())) + " " + file("b.json", written(run)) + " " +
             file("s.json", selftest_json(selftest())) + " " + file("n.json", night_json(night)) +
             " " + file("t.json", kBenches));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("PASSED: 2 of 2 cases passed, each with the same bits"));
  for (const char* part :
       {"\n\nORDER-DEPENDENT: 1 of 2 cases passed", "\\x1b[31m",
        "\n\nselftest on host\nworker error: race_90: it died\n",
        "\n\naudit exit code 0: 62 modules\nsmoke exit code 3\n"
        "   again           harness --permute-order\n"
        "         2.5 us    50 % of the ceiling  paged_decode_v2/rows:8/pool:e4m3/tile:8/"
        "ppc:auto/manual_time (cuda, Test GPU)\n"})
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
}

TEST_F(ReportCommandTest, WhatARunWroteIsRead) {
  const std::string few = "--filter 'split_kv_merge/*/single' --permute-order --json ";
  ASSERT_EQ(run_harness(folder_.path(), few + path("run.json")).exit_code, 0);
  const Ran ran = report(path("run.json") + " --junit " + path("j.xml"));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  JoinedRuns joined;
  read_into(joined, path("run.json"));
  EXPECT_EQ(written(joined.runs.at(0).report), read_file(path("run.json")));
  EXPECT_EQ(joined.runs.at(0).report.build.size(), 32u);
  const std::string xml = read_file(path("j.xml"));
  EXPECT_NE(xml.find("<testcase classname=\"split_kv_merge\" "), std::string::npos) << xml;
  EXPECT_NE(xml.find("failures=\"0\" errors=\"0\">"), std::string::npos) << xml;
}

TEST_F(ReportCommandTest, AFileThatIsNoReportIsRefusedAndNothingWritten) {
  const std::string sound = file("run.json", written(clean_report()));
  const std::string cut = file("cut.json", written(clean_report()).substr(0, 200));
  expect_refused(sound + " " + cut + " --junit " + path("j.xml"), 5,
                 "cut.json is cut off: its JSON does not end; give a report as it was written");
  EXPECT_FALSE(fs::exists(path("j.xml")));
  expect_refused(path("absent.json"), 5, "absent.json cannot be read: No such file");
  expect_refused(sound + " " + sound, 2, "run.json is given twice; give each report once");
}

TEST_F(ReportCommandTest, APageReplacesNoInputAndNoOtherPage) {
  const std::string text = written(clean_report());
  const std::string run = file("run.json", text);
  fs::create_hard_link(run, path("link.json"));
  expect_refused(run + " --junit " + run, 2, "--junit " + run + ": is one of the files");
  expect_refused(run + " --markdown " + path("link.json"), 2, "is one of the files");
  expect_refused(run + " --markdown " + path("new") + " --junit " + path("./new"), 2,
                 "is the file of --junit too");
  EXPECT_EQ(read_file(run), text);
  EXPECT_EQ(report(run + " --markdown /dev/null --junit /dev/null").exit_code, 0);
}

TEST_F(ReportCommandTest, WrongCallsAreUsage) {
  const std::string run = file("run.json", written(clean_report()));
  expect_refused("", 2, "file is required");
  expect_refused(run + " --junit ''", 2, "is empty");
  expect_refused(run + " --junit " + path("absent/j.xml"), 2, "cannot be written");
  expect_refused(run + " --junit " + folder_.path().string(), 2, "is a folder");
  JoinedRuns night;
  night.commit = "1598093";
  expect_refused(file("n.json", night_json(night)) + " --commit 9ff470d", 2,
                 "n.json is of commit 1598093, and the others are of 9ff470d");
}

}  // namespace
}  // namespace parity::test
