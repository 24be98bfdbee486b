// A worker in another language, tests/workers/numpy_worker.py, under the built program: it passes
// clean, and its leak is found, shrunk, named and replayed like one of our own.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/harness_process.hpp"
#include "tests/python.hpp"
#include "tests/test_home.hpp"

namespace parity::test {
namespace {

using nlohmann::json;

class ForeignWorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    python_ = find_python({"h5py", "numpy", "xxhash"});
    if (python_.command.empty())
      GTEST_SKIP() << "the package " << python_.missing << " is not installed";
  }

  static Ran harness(const std::string& arguments) { return run_harness(test_home(), arguments); }
  std::string worker(const std::string& arguments = "") const {
    return " --worker '" + python_.command +
           " " PARITY_SOURCE_DIR "/tests/workers/numpy_worker.py" + arguments + "'";
  }
  /// Runs with --json and reads it back.
  static json report(const std::string& arguments, int exit_code) {
    const TemporaryFolder scratch;
    const std::string path = (scratch.path() / "report.json").string();
    const Ran ran = harness(arguments + " --json '" + path + "'");
    EXPECT_EQ(ran.exit_code, exit_code) << arguments << "\n" << ran.out << ran.err;
    return json::parse(read_file(path), nullptr, false);
  }
  static void expect_refused(const Ran& ran, int exit_code, const std::string& mention) {
    EXPECT_EQ(ran.exit_code, exit_code) << ran.out << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_NE(ran.err.find(mention), std::string::npos) << ran.err;
  }

 private:
  Python python_;
};

/// What a person would paste, without the program in front.
std::string arguments_of(const std::string& command) {
  return command.substr(command.find(" replay ") + 1);
}

TEST_F(ForeignWorkerTest, CleanItPassesEveryCaseInEveryOrder) {
  const json run = report(
      "--permute-order --filter 'paged_decode_v1/q=f32,k=*,v=f32/d=64,hq=8,hkv=2,page=16/ragged'" +
          worker(),
      0);
  EXPECT_EQ(run["device"]["name"].get<std::string>().rfind("numpy ", 0), 0u) << run["device"];
  EXPECT_EQ(run["coverage"]["adjacent_pairs"]["exercised"], 6);
  ASSERT_EQ(run["cases"].size(), 3u);
  for (const json& c : run["cases"]) {
    EXPECT_EQ(c["verdict"], "passed") << c;
    EXPECT_EQ(c["distinct_bits"], 1) << c;
  }
}

TEST_F(ForeignWorkerTest, ItsLeakIsShrunkToTwoCasesNamedConfirmedAndReplayed) {
  // Two 16-bit types: every byte count fits, only the meaning of the bits is wrong.
  const json run = report(
      "--permute-order"
      " --filter 'paged_decode_v1/q=f32,k=*f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged'" +
          worker(" --leak"),
      3);
  ASSERT_EQ(run["findings"].size(), 1u) << run;
  const json& finding = run["findings"][0];
  EXPECT_EQ(finding["kind"], "order_dependent");
  EXPECT_EQ(finding["sequence"].size(), 2u);
  EXPECT_EQ(finding["carrier"], "decoders");
  EXPECT_EQ(finding["cell"], "decoder<64,4,16>");
  EXPECT_EQ(finding["grade"], "confirmed");
  EXPECT_EQ(finding["built_for"], "q=f32,k=f16,v=f32");
  EXPECT_EQ(finding["used_for"], "q=f32,k=bf16,v=f32");
  const json not_probed = finding["not_probed"];
  EXPECT_NE(std::find(not_probed.begin(), not_probed.end(), "numpy"), not_probed.end());

  std::string replay = arguments_of(finding["replay"]);
  const std::string often = "--repeat 20";
  ASSERT_NE(replay.find(often), std::string::npos) << replay;
  replay.replace(replay.find(often), often.size(), "--repeat 2");
  const json replayed = report(replay, 3);
  EXPECT_EQ(replayed["findings"][0]["reproduced"], json({2, 2}));
  EXPECT_EQ(replayed["findings"][0]["alone"], json({0, 2}));
  report(arguments_of(finding["contrast"]), 0);
}

TEST_F(ForeignWorkerTest, APlantItDoesNotKnowIsRefusedByName) {
  expect_refused(harness("--filter '*/empty' --plant weak_module_key" + worker()), 5,
                 "numpy_worker.py knows no plant 'weak_module_key'");
}

TEST_F(ForeignWorkerTest, ABackendItDoesNotHaveIsRefused) {
  expect_refused(harness("--filter '*/empty' --backend cuda" + worker()), 5, "no backend but host");
}

TEST_F(ForeignWorkerTest, ACaseItCannotDoIsUnsupportedWithTheReason) {
  const Ran ran =
      harness("replay paged_decode_v1/q=f32,k=f32,v=f32/d=256,hq=2,hkv=1,page=16/long" + worker());
  EXPECT_EQ(ran.exit_code, 2) << ran.err;  // nothing ran
  EXPECT_NE(ran.out.find("1 unsupported"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find(": above 1 MiB"), std::string::npos) << ran.out;
}

TEST_F(ForeignWorkerTest, WhatItDoesNotComputeIsUnsupportedAndNeverWrong) {
  const std::vector<std::pair<std::string, std::string>> asked = {
      {"q=f32,k=f32,v=f32/d=8,hq=2,hkv=1,page=8,window=5/exact", "window= is not implemented"},
      {"q=f32,k=f32,v=f32/d=8,hq=2,hkv=1,page=8,softcap=5/exact", "softcap= is not implemented"},
      {"q=f32,k=f32,v=f32/d=8,hq=2,hkv=1,page=8,layout=hnd/exact", "layout= is not implemented"},
      {"q=f16,out=f32,k=f32,v=f32/d=8,hq=2,hkv=1,page=8/exact", "out= is not implemented"},
      {"q=f32,k=e4m3,v=f32/d=8,hq=2,hkv=1,page=8/exact", "k_pages is e4m3["}};
  std::string ids;
  for (const auto& [rest, reason] : asked) ids += " paged_decode_v1/" + rest;
  const Ran ran = harness("replay" + ids + worker());
  const std::string said =
      std::regex_replace(ran.out, std::regex("\\s+"), " ");  // lines are wrapped
  EXPECT_NE(said.find("5 unsupported"), std::string::npos) << ran.out;
  for (const auto& [rest, reason] : asked)
    EXPECT_NE(said.find(rest + ": " + reason), std::string::npos) << reason << ran.out;
}

TEST_F(ForeignWorkerTest, AMissingPackageIsNamed) {
  // -S hides every installed package.
  expect_refused(harness("--filter '*/empty' --worker '/usr/bin/python3 -S " PARITY_SOURCE_DIR
                         "/tests/workers/numpy_worker.py'"),
                 5, "the Python package h5py is missing");
}

}  // namespace
}  // namespace parity::test
