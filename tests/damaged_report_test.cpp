// Files that are no reports, or not whole, are refused in one line that names the place.

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "tests/written_reports.hpp"

namespace parity {
namespace {

using Json = nlohmann::ordered_json;

class DamagedReportTest : public WrittenReportTest {
 protected:
  /// What is said of a run with one value changed.
  std::string refusal_after(const std::function<void(Json&)>& change) const {
    Json json = Json::parse(written(planted_report()));
    change(json);
    return refusal(json.dump());
  }
};

TEST_F(DamagedReportTest, WhatIsWrongIsNamedByItsPlace) {
  EXPECT_EQ(refusal_after([](Json& j) { j["cases"][1]["verdict"] = "well"; }),
            "at cases[1].verdict: is none of passed, failed, untrusted, unsupported, error, "
            "crashed, timed_out, not_run; give a report as it was written");
  const auto says = [&](const std::function<void(Json&)>& change, const std::string& part) {
    const std::string text = refusal_after(change);
    EXPECT_TRUE(text.starts_with("at " + part + "; ")) << text;
  };
  says([](Json& j) { j["seed"] = -1; }, "seed: is -1, not a whole number from 0 on");
  says([](Json& j) { j["plants"] = "drift"; }, "plants: is of type string, not a list");
  says([](Json& j) { j["plants"] = {1, 2}; }, "plants[0]: is a number, not a text");
  says([](Json& j) { j["device"] = Json::array(); }, "device: is of type array, not an object");
  says([](Json& j) { j["device"]["arch"] = nullptr; }, "device.arch: is of type null, not a text");
  says([](Json& j) { j["findings"][0]["grade"] = "sure"; },
       "findings[0].grade: is none of confirmed, necessary, correlated, unnamed");
  says([](Json& j) { j["findings"][0]["kind"] = "bits"; },
       "findings[0].kind: is none of order_dependent, unstable, mismatch, hygiene, crash, timeout, "
       "error, unconfirmed");
  says(
      [](Json& j) {
        j["findings"][0]["alone"] = {1, 2, 3};
      },
      "findings[0].alone: must be two whole numbers: how often, of how many");
  says([](Json& j) { j["findings"][0]["error"] = "much"; },
       "findings[0].error: is 'much', not a number");
  says([](Json& j) { j["cases"][0]["outputs"]["lse"].erase("error"); },
       "cases[0].outputs.lse: the key 'error' is missing");
  says([](Json& j) { j["exit_code"] = 6; }, "exit_code: is no exit code of a run: 0 to 5");
  says([](Json& j) { j["threads"] = 0; }, "threads: is 0; a case runs in one thread at least");
  says([](Json& j) { j["interrupted"] = 1; }, "interrupted: is a number, not true or false");
  says([](Json& j) { j["schema"] = "parity.run/2"; },
       "schema: is none of parity.run/1, parity.selftest/1, parity.night/1, which this harness "
       "reads");
}

TEST_F(DamagedReportTest, EveryKeyThatAlwaysStandsIsMissed) {
  const Json whole = Json::parse(written(clean_report()));
  for (const auto& [key, value] : whole.items()) {
    if (key == "not_probed") continue;  // stands only where there is one
    EXPECT_NE(refusal_after([&, k = key](Json& json) {
                json.erase(k);
              }).find("the key '" + key + "' is missing"),
              std::string::npos)
        << key;
  }
}

TEST_F(DamagedReportTest, SumsThatAreNotThoseOfTheRowsAreRefused) {
  Json json = Json::parse(selftest_json(selftest()));
  json["exit_code"] = 0;
  EXPECT_TRUE(refusal(json.dump()).starts_with("at exit_code: is 0, but the rows give 5; "));
}

TEST_F(DamagedReportTest, WhatIsNoReportIsRefused) {
  EXPECT_EQ(refusal(""), "is empty; give a report as it was written");
  EXPECT_TRUE(refusal("{}").starts_with("as a whole the key 'schema' is missing; "));
  EXPECT_TRUE(refusal("[1]").starts_with("as a whole is of type array, not an object; "));
  EXPECT_TRUE(refusal("{\"schema\": x}").starts_with("is not JSON at byte 12 of 13; "));
  EXPECT_TRUE(refusal("{\"schema\": \"a\xff\"}").starts_with("is not UTF-8; "));
  EXPECT_TRUE(refusal("{\"schema\": 1e999}").starts_with("holds a number that no double "));
  EXPECT_TRUE(refusal("{\"a\": 1, \"a\": 2}").starts_with("holds the key 'a' twice "));
  EXPECT_TRUE(refusal(std::string(100000, '[')).starts_with("is nested deeper than 32; "));
}

TEST_F(DamagedReportTest, AFileThatCannotBeReadIsNamed) {
  JoinedRuns joined;
  for (const std::filesystem::path& path : {folder_.path(), folder_.path() / "absent.json"}) {
    try {
      read_into(joined, path);
      ADD_FAILURE() << path;
    } catch (const DatasetError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(path.string() + " cannot be read: "));
    }
  }
}

/// Either a value or one line.
void expect_value_or_one_line(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::remove(path);  // a file that is cut and filled again waits for the disk
  std::ofstream(path, std::ios::binary) << text;
  try {
    JoinedRuns joined;
    read_into(joined, path);
  } catch (const DatasetError& error) {
    EXPECT_EQ(std::string(error.what()).find_first_of("\n\r"), std::string::npos) << error.what();
  }
}

TEST_F(DamagedReportTest, EveryCutIsRefused) {
  const std::string text = written(planted_report());
  const std::string body = text.substr(0, text.size() - 1);  // without the line's end
  for (std::size_t length = 1; length < body.size(); ++length)
    ASSERT_TRUE(refusal(body.substr(0, length)).starts_with("is cut off: ")) << length;
}

TEST_F(DamagedReportTest, AnyByteChangedGivesAValueOrOneLine) {
  RunReport small = planted_report();
  small.cases.resize(1);
  const std::filesystem::path path = folder_.path() / "changed.json";
  for (std::string text :
       {Json::parse(written(small)).dump(), selftest_json(selftest()), std::string(kBenches)})
    for (char& byte : text)
      for (const int flipped : {0x01, 0x04, 0x10, 0x80}) {
        byte = static_cast<char>(byte ^ flipped);
        expect_value_or_one_line(path, text);
        byte = static_cast<char>(byte ^ flipped);
      }
}

}  // namespace
}  // namespace parity
