// The JSON report, letter for letter, and how it reaches its file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "datasets/errors.hpp"
#include "reports/report.hpp"
#include "tests/sample_report.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

std::string written(const RunReport& report) {
  std::ostringstream out;
  make_json_writer()->write(report, out);
  return out.str();
}

std::string content(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A folder of its own for each test, gone afterwards.
class ReportFileTest : public testing::Test {
 protected:
  ReportFileTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ReportFileTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("parity_report_" + std::to_string(::getpid()) + "_" +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST(JsonWriterTest, CleanRunInFull) {
  EXPECT_EQ(written(clean_report()), R"json({
  "schema": "parity.run/1",
  "backend": "host",
  "device": {
    "name": "Test CPU",
    "arch": "x86-64-v3",
    "driver": "host"
  },
  "seed": 7,
  "suite": "smoke",
  "plants": [],
  "cases": [
    {
      "id": "paged_decode_v1/q=f32,k=f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged",
      "verdict": "passed",
      "error": 2e-07,
      "tolerance": 1e-05,
      "runs": 3,
      "distinct_bits": 1,
      "outputs": {
        "out": {
          "error": 1e-07,
          "tolerance": 1e-05,
          "of_bound": 0.25
        },
        "lse": {
          "error": 2e-07,
          "tolerance": 1e-05,
          "of_bound": 0.0
        }
      }
    },
    {
      "id": "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged",
      "verdict": "passed",
      "error": 2e-07,
      "tolerance": 1e-05,
      "runs": 3,
      "distinct_bits": 1,
      "outputs": {
        "out": {
          "error": 1e-07,
          "tolerance": 1e-05,
          "of_bound": 0.25
        },
        "lse": {
          "error": 2e-07,
          "tolerance": 1e-05,
          "of_bound": 0.0
        }
      }
    }
  ],
  "coverage": {
    "orders": 2,
    "executions": 6,
    "process_starts": 2,
    "adjacent_pairs": {
      "possible": 2,
      "planned": 2,
      "exercised": 2
    },
    "ordered_pairs": {
      "possible": 2,
      "planned": 2,
      "exercised": 2
    }
  },
  "findings": [],
  "exit_code": 0,
  "not_probed": [
    "environment",
    "rng_stream"
  ]
}
)json");
}

TEST(JsonWriterTest, FindingInFull) {
  const std::string text = written(planted_report());
  const std::size_t begin = text.find("  \"findings\"");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_EQ(text.substr(begin), R"json(  "findings": [
    {
      "kind": "order_dependent",
      "fingerprint": "mismatch",
      "victim": "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged",
      "role": "victim",
      "also": [],
      "sequence": [
        "paged_decode_v1/q=f32,k=f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged",
        "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged"
      ],
      "carrier": "module_cache",
      "cell": "paged_decode_v1<D=64,GROUP=4>",
      "built_for": "q=f32,k=f16,v=f32",
      "used_for": "q=f32,k=f32,v=f32",
      "grade": "confirmed",
      "replay": "harness replay paged_decode_v1/q=f32,k=f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged --repeat 20 --plant weak_module_key",
      "reproduced": [
        5,
        5
      ],
      "alone": [
        0,
        6
      ],
      "error": 16987.25,
      "tolerance": 1e-05,
      "detail": "out[0,3,17]: got 1.5, want 0.25 (row error 16987.2 > 1e-05)",
      "contrast": "harness replay paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged --repeat 20 --plant weak_module_key",
      "exposed": [
        "parity::paged_decode_v1 (q=f32,k=f16,v=f32 and q=f32,k=f32,v=f32)"
      ],
      "not_probed": [
        "environment",
        "rng_stream"
      ]
    }
  ],
  "exit_code": 3,
  "not_probed": [
    "environment",
    "rng_stream"
  ]
}
)json");
}

TEST(JsonWriterTest, NumbersThatAreNotFiniteAreStrings) {
  RunReport report = planted_report();
  report.cases[0].error = std::nan("");
  report.cases[1].error = std::numeric_limits<double>::infinity();
  report.findings[0].error = -std::numeric_limits<double>::infinity();
  const auto json = nlohmann::json::parse(written(report));
  EXPECT_EQ(json["cases"][0]["error"], "nan");
  EXPECT_EQ(json["cases"][1]["error"], "inf");
  EXPECT_EQ(json["findings"][0]["error"], "-inf");
}

TEST(JsonWriterTest, ListsOfTwoStringsStayLists) {
  RunReport report = planted_report();
  report.plants = {"drift", "weak_module_key"};
  report.findings[0].also = {"x", "y"};
  const auto json = nlohmann::json::parse(written(report));
  EXPECT_EQ(json["plants"], nlohmann::json::array({"drift", "weak_module_key"}));
  EXPECT_EQ(json["findings"][0]["also"], nlohmann::json::array({"x", "y"}));
}

TEST(JsonWriterTest, ThreadsAndPairsTogetherStandOnlyWhereThereAreThreads) {
  RunReport report = clean_report();
  EXPECT_EQ(written(report).find("together"), std::string::npos);
  report.threads = 4;
  report.coverage.together = {.possible = 1, .planned = 1, .exercised = 1};
  const auto json = nlohmann::json::parse(written(report));
  EXPECT_EQ(json["threads"], 4);
  EXPECT_EQ(json["coverage"]["pairs_together"]["exercised"], 1);
}

TEST(JsonWriterTest, BuildAndTheThreadsOfAFindingStandOnlyWhereTheySaySomething) {
  RunReport report = planted_report();
  EXPECT_EQ(written(report).find("\"build\""), std::string::npos);
  EXPECT_EQ(written(report).find("\"threads\""), std::string::npos);
  report.build = "0123abcd";
  report.findings[0].threads = 4;
  report.not_probed.clear();
  const auto json = nlohmann::json::parse(written(report));
  EXPECT_EQ(json["build"], "0123abcd");
  EXPECT_EQ(json["findings"][0]["threads"], 4);
  EXPECT_FALSE(json.contains("not_probed"));
}

TEST(JsonWriterTest, SeedKeepsAll64Bits) {
  RunReport report = clean_report();
  report.seed = std::numeric_limits<std::uint64_t>::max();
  EXPECT_NE(written(report).find("\"seed\": 18446744073709551615,"), std::string::npos);
}

TEST(JsonWriterTest, BytesThatAreNotUtf8DoNotLoseTheReport) {
  RunReport report = planted_report();
  report.findings[0].detail = "signal \xff";
  EXPECT_EQ(nlohmann::json::parse(written(report))["findings"][0]["detail"], "signal \xef\xbf\xbd");
}

TEST_F(ReportFileTest, ReplacesTheOldFileAndLeavesNothingElse) {
  const fs::path path = folder_ / "run.json";
  std::ofstream(path) << "old";
  write_report(*make_json_writer(), clean_report(), path);
  EXPECT_EQ(content(path), written(clean_report()));
  EXPECT_EQ(files(), 1u);
}

TEST(JsonWriterTest, SeveralRunsAreNoRun) {
  std::ostringstream out;
  EXPECT_THROW(make_json_writer()->write(JoinedRuns{}, out), std::logic_error);
  JoinedRuns two;
  two.runs = {{"a.json", clean_report()}, {"b.json", clean_report()}};
  EXPECT_THROW(make_json_writer()->write(two, out), std::logic_error);
  EXPECT_EQ(out.str(), "");
}

TEST_F(ReportFileTest, WriterThatThrowsLeavesTheOldFile) {
  class Thrower final : public ReportWriter {
    void write(const JoinedRuns&, std::ostream& out) const override {
      out << "half";
      throw UsageError("stop");
    }
  };
  const fs::path path = folder_ / "run.json";
  std::ofstream(path) << "old";
  EXPECT_THROW(write_report(Thrower(), clean_report(), path), UsageError);
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(ReportFileTest, MissingFolderIsNamed) {
  const fs::path path = folder_ / "absent" / "run.json";
  try {
    write_report(*make_json_writer(), clean_report(), path);
    FAIL() << "no error";
  } catch (const DatasetError& error) {
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos);
  }
}

TEST_F(ReportFileTest, FolderAndEmptyNameAreRefused) {
  EXPECT_THROW(write_report(*make_json_writer(), clean_report(), folder_), DatasetError);
  EXPECT_THROW(write_report(*make_json_writer(), clean_report(), ""), DatasetError);
}

TEST_F(ReportFileTest, FullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this machine";
  EXPECT_THROW(write_report(*make_json_writer(), clean_report(), "/dev/full"), DatasetError);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(ReportFileTest, LinkIsWrittenThrough) {
  const fs::path link = folder_ / "link.json";
  fs::create_symlink(folder_ / "target.json", link);
  write_report(*make_json_writer(), clean_report(), link);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content(folder_ / "target.json"), written(clean_report()));
}

}  // namespace
}  // namespace parity
