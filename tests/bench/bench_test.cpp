// The benches run, say what they promise, and fail where a kernel or a request is wrong.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/temporary_folder.hpp"
#include "tests/test_home.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class BenchTest : public testing::Test {
 protected:
  /// Exit code; the JSON lies in report().
  int bench(const std::string& arguments) {
    const fs::path home = test::test_home();
    const std::string command = "PARITY_HOME='" + home.string() + "' '" PARITY_BENCH "' " +
                                arguments + " --benchmark_min_time=0.01 --benchmark_out='" +
                                out().string() + "' >'" + log().string() + "' 2>&1 </dev/null";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  json report() const { return json::parse(std::ifstream(out()), nullptr, false); }
  std::string printed() const {
    std::ifstream file(log());
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  fs::path out() const { return folder_.path() / "bench.json"; }
  fs::path log() const { return folder_.path() / "log"; }

  TemporaryFolder folder_;
};

TEST_F(BenchTest, KernelsAreMeasuredAgainstTheCeilingOfTheSameRun) {
  ASSERT_EQ(bench("--backend host --benchmark_filter='tokens:64/|^split_kv_merge/rows:1/'"), 0)
      << printed();
  const json run = report();
  ASSERT_TRUE(run.is_object()) << printed();
  EXPECT_EQ(run["context"]["backend"], "host");
  for (const char* key : {"device", "arch", "driver", "ceiling_69756_bytes"})
    EXPECT_TRUE(run["context"].contains(key)) << key;
  std::vector<std::string> names;
  for (const json& line : run["benchmarks"]) {
    names.push_back(line["name"].get<std::string>());
    EXPECT_GT(line["bytes"].get<double>(), 0) << line;
    EXPECT_GT(line["real_time"].get<double>(), 0) << line;
    EXPECT_GT(line["of_ceiling"].get<double>(), 0) << line;
    EXPECT_NEAR(line["of_ceiling"].get<double>(),
                line["GB/s"].get<double>() / line["ceiling"].get<double>(),
                1e-6 * line["of_ceiling"].get<double>());
  }
  for (const json& line : run["benchmarks"]) {
    const bool merges = line["name"].get<std::string>().starts_with("split_kv_merge");
    EXPECT_TRUE(line["label"].get<std::string>().starts_with(
        merges ? "dtypes:v=f32,out=bf16 " : "dtypes:q=bf16,k=bf16,v=bf16 "))
        << line;
  }
  const std::string shape = "/rows:2/tokens:64/heads:8/kv_heads:2";
  EXPECT_EQ(names, (std::vector<std::string>{
                       "paged_decode_v1" + shape + "/manual_time",
                       "paged_decode_v2" + shape + "/ppc:auto/manual_time",
                       "split_kv_merge" + shape + "/manual_time",
                       "split_kv_merge/rows:1/tokens:256/heads:8/kv_heads:2/manual_time"}));
}

TEST_F(BenchTest, SamplersAreMeasuredAgainstOnePassOverTheirRows) {
  ASSERT_EQ(bench("--backend host --benchmark_filter='_sample/'"), 0) << printed();
  const json run = report();
  ASSERT_TRUE(run.is_object()) << printed();
  std::vector<std::string> names;
  for (const json& line : run["benchmarks"]) {
    names.push_back(line["name"].get<std::string>());
    const bool half = names.back().find("bf16") != std::string::npos;
    EXPECT_EQ(line["bytes"].get<double>(), 2 * 4096 * (half ? 2 : 4));
    const std::string axis = names.back().starts_with("gumbel") ? "logits" : "probs";
    EXPECT_TRUE(line["label"].get<std::string>().starts_with("dtypes:" + axis +
                                                             (half ? "=bf16 " : "=f32 ")))
        << line;
    EXPECT_GT(line["of_ceiling"].get<double>(), 0) << line;
  }
  std::vector<std::string> want;
  for (const std::string shape : {"rows:2/v:4096/f32/splits:auto", "rows:2/v:4096/bf16/splits:2"})
    for (const std::string& name :
         {"gumbel_max_sample/" + shape, "rejection_sample/" + shape + "/joint",
          "rejection_sample/" + shape + "/top_k_first"})
      want.push_back(name + "/manual_time");
  EXPECT_EQ(names, want);
}

TEST_F(BenchTest, WorkersAndTheCostOfALaunchAreMeasured) {
  ASSERT_EQ(bench("--backend=host --benchmark_filter='^worker/|^judge/|^host_cost/'"), 0)
      << printed();
  const json run = report();
  ASSERT_TRUE(run.is_object()) << printed();
  ASSERT_EQ(run["benchmarks"].size(), 8u) << printed();
  for (const json& line : run["benchmarks"]) EXPECT_GT(line["real_time"].get<double>(), 0) << line;
  for (const char* each_run : {"host_cost/disk_cache_hit", "worker/look_around"}) {
    const auto cost = std::ranges::find(run["benchmarks"], each_run,
                                        [](const json& line) { return line["name"]; });
    ASSERT_NE(cost, run["benchmarks"].end()) << printed();
    // Of the processor, so that a busy machine cannot fail it.
    EXPECT_LT((*cost)["cpu_time"].get<double>(), 1000) << "µs, which is what it may cost a run";
  }
}

TEST_F(BenchTest, AFilterThatMatchesNothingAndUnknownWordsAreRefused) {
  EXPECT_EQ(bench("--backend host --benchmark_filter=no_such_bench"), 2);
  EXPECT_EQ(bench("--backend tpu"), 2);
  EXPECT_NE(printed().find("tpu"), std::string::npos) << printed();
  EXPECT_EQ(bench("--no_such_flag"), 2);
}

}  // namespace
}  // namespace parity
