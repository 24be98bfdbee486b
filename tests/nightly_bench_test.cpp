// Times of kernels in a night: shown where they can be read; else the night says so and goes on.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/nightly_fixture.hpp"

namespace parity::test {
namespace {

class NightlyBenchTest : public NightlyTest {
 protected:
  std::filesystem::path bench(const std::string& name = "bench.json") const {
    return scratch_.path() / name;
  }
  /// One bench of a kernel, with `more` among its keys.
  void write_bench(const std::string& more, const std::string& name = "bench.json") const {
    write(bench(name), R"({"context": {}, "benchmarks": [{"run_name": "paged_decode_v2/rows:8",)"
                       R"("run_type": "iteration", "repetitions": 1, )" +
                           more + "}]}");
  }
  static constexpr const char* kTime = R"("real_time": 2.5, "time_unit": "us", "of_ceiling": 0.5)";
  static constexpr const char* kFailed = R"("error_occurred": true, "error_message": "not finite")";
  static constexpr const char* kNoTimes = "No times were given";
  Ran nightly_with(const std::string& files) const {
    return nightly("--only smoke" + files + kTwoCases);
  }
  std::string option(const std::string& name = "bench.json") const {
    return " --bench " + quoted(bench(name));
  }
  bool page_has(const std::string& word) const {
    return read_file(night() / "index.html").find(word) != std::string::npos;
  }
};

TEST_F(NightlyBenchTest, TimesAreOnThePage) {
  write_bench(kTime);
  const Ran ran = nightly_with(option());
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_EQ(exit_codes(), (std::vector{0}));
  EXPECT_FALSE(page_has(kNoTimes));
}

/// What the night is for runs, and its reports say what is missing.
TEST_F(NightlyBenchTest, AFailedBenchCostsItsTimesAndNoStep) {
  write_bench(kTime, "good.json");
  write_bench(kFailed);
  const Ran ran = nightly_with(option() + option("none.json") + option("good.json"));
  EXPECT_EQ(ran.exit_code, 5) << ran.out << ran.err;
  EXPECT_EQ(exit_codes(), (std::vector{0, 5, 5}));
  EXPECT_NE(ran.out.find("1 of 3 steps passed"), std::string::npos) << ran.out;
  EXPECT_EQ(steps().at(1).at("name"), "bench");
  EXPECT_NE(std::string(steps().at(1).at("said")).find("not finite"), std::string::npos);
  EXPECT_NE(std::string(steps().at(2).at("said")).find("none.json"), std::string::npos);
  EXPECT_TRUE(page_has("not finite"));
  EXPECT_FALSE(page_has(kNoTimes));
  for (const char* page : {"summary.md", "junit.xml"})
    EXPECT_NE(read_file(night() / page).find("not finite"), std::string::npos) << page;
}

TEST_F(NightlyBenchTest, AFileWithoutTimesIsNoBench) {
  ASSERT_EQ(harness(std::string("run --json ") + quoted(bench()) + kTwoCases).exit_code, 0);
  EXPECT_EQ(cut_off("--only smoke" + option() + kTwoCases).exit_code, 5);
  EXPECT_EQ(steps().at(1).at("said"), "holds no times; name what parity_bench wrote");
  EXPECT_TRUE(page_has(kNoTimes));
}

/// Given once at a resume, they are kept by the next.
TEST_F(NightlyBenchTest, WhatAResumeWasGivenTheNextOneKeeps) {
  write_bench(kFailed);
  ASSERT_EQ(nightly_with(option() + " --commit 0123abc").exit_code, 5);
  write_bench(kTime, "repaired.json");
  EXPECT_EQ(resumed(option("repaired.json") + " --commit 4567def").exit_code, 0);
  EXPECT_EQ(resumed().exit_code, 0);
  EXPECT_FALSE(page_has(kNoTimes));
  EXPECT_TRUE(page_has("4567def"));
  EXPECT_FALSE(page_has("0123abc"));
}

}  // namespace
}  // namespace parity::test
