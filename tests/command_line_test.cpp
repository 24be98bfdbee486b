// The command line's contract, tried on the built program and the host backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "device/sanitizers.hpp"
#include "tests/harness_process.hpp"
#include "tests/test_home.hpp"

namespace parity::test {
namespace {

using nlohmann::json;

class CommandLineTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { scratch_ = new TemporaryFolder; }
  static void TearDownTestSuite() {
    delete scratch_;
    scratch_ = nullptr;
  }
  /// One home for all tests of a build: modules are content-addressed, so only the first run
  /// compiles.
  static Ran harness(const std::string& arguments, const std::string& environment = "") {
    return run_harness(test_home(), arguments, environment);
  }
  static std::filesystem::path file(const std::string& name) { return scratch_->path() / name; }
  /// Runs with --json and reads it back.
  static json report(const std::string& arguments, int exit_code) {
    const std::filesystem::path path = file("report.json");
    std::filesystem::remove(path);
    const Ran ran = harness(arguments + " --json '" + path.string() + "'");
    EXPECT_EQ(ran.exit_code, exit_code) << arguments << "\n" << ran.out << ran.err;
    return json::parse(read_file(path), nullptr, false);
  }
  static void expect_refused(const Ran& ran, int exit_code, const std::string& mention) {
    EXPECT_EQ(ran.exit_code, exit_code) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_NE(ran.err.find(mention), std::string::npos) << ran.err;
  }

 private:
  static TemporaryFolder* scratch_;
};
TemporaryFolder* CommandLineTest::scratch_ = nullptr;

/// Six dtype variants of one geometry: quick, and full of leaks when planted.
constexpr const char* kOneGeometry = " --backend host --filter '*/d=64,hq=8,hkv=2,page=16/ragged'";

TEST_F(CommandLineTest, AFilterThatMatchesNothingIsRefused) {  // E3
  expect_refused(harness("--filter 'no_such*'"), 2, "no_such*");
  expect_refused(harness("list --filter 'no_such*'"), 2, "no_such*");
}

TEST_F(CommandLineTest, AnUnknownPlantIsRefusedNamingTheKnownOnes) {
  expect_refused(harness("--plant no_such"), 2, "weak_module_key");
}

TEST_F(CommandLineTest, ACaseBeyondAllMemoryIsRefused) {
  for (const char* command : {"show ", "replay "})
    expect_refused(
        harness(std::string(command) +
                "paged_decode_v1/q=f32,k=f32,v=f32/d=256,hq=4096,hkv=4096,page=4096/ragged"),
        2, "bytes, but may have 1073741824");
}

#if !PARITY_ASAN && !PARITY_TSAN
/// A sanitizer reserves more address space than this leaves.
TEST_F(CommandLineTest, RunningOutOfMemoryIsOneLine) {
  expect_refused(harness("show paged_decode_v1/q=f32,k=f32,v=f32/d=256,hq=64,hkv=64,page=64/long",
                         "prlimit --as=600000000"),
                 5, "out of memory");
}
#endif

TEST_F(CommandLineTest, MalformedIdsAreRefused) {
  expect_refused(harness("replay nonsense"), 2, "nonsense");
  expect_refused(harness("show 'no_kernel/q=f32/d=64/ragged'"), 2, "no_kernel");
  expect_refused(
      harness("replay 'paged_decode_v1/k=f32,q=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged'"), 2, "q");
}

TEST_F(CommandLineTest, BadNumbersAndWordsAreRefused) {
  expect_refused(harness("--seed x"), 2, "--seed");
  expect_refused(harness("--seed -1"), 2, "-1");
  expect_refused(harness("--plant drift list"), 2, "list");
  expect_refused(
      harness("show paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=99999999/ragged"), 2,
      "page=99999999");
  expect_refused(harness("--permute-order --budget 10"), 2, "10");
  expect_refused(harness("--permute-order --orders random:0"), 2, "random:0");
  expect_refused(harness("--jobs -1"), 2, "--jobs");
  expect_refused(harness("--deadline soon"), 2, "soon");
  expect_refused(harness("--suite tiny"), 2, "tiny");
  expect_refused(harness("--backend tpu"), 2, "tpu");
  expect_refused(harness("replay --repeat 0 x"), 2, "--repeat");
  expect_refused(harness("--no-such-option"), 2, "--no-such-option");
  expect_refused(harness("--permute-order --permute-dtype"), 2, "--permute");
}

TEST_F(CommandLineTest, AnUnwritableReportIsRefusedBeforeAnythingRuns) {
  expect_refused(harness("--json /no/such/folder/report.json"), 2, "/no/such/folder/report.json");
  expect_refused(harness("--json /"), 2, "folder");
  expect_refused(harness("--autotune measure --autotune-file /"), 2, "--autotune-file /");
}

TEST_F(CommandLineTest, AnInterruptedRunKeepsWhatItHasAndIsNeverGreen) {
  const std::filesystem::path path = file("interrupted.json");
  const Ran ran =
      harness("--permute-order --orders random:5000 --backend host --filter '*/empty' --json '" +
                  path.string() + "'",
              "timeout --preserve-status -s INT 4");
  EXPECT_EQ(ran.exit_code, 5) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("INTERRUPTED"), std::string::npos) << ran.out;
  const json report = json::parse(read_file(path));
  EXPECT_EQ(report["interrupted"], true);
  EXPECT_LT(report["coverage"]["orders"], 5000);
}

TEST_F(CommandLineTest, ALeakIsSeenThoughNoCaseRanFirstTwice) {
  report(
      "--permute-order --orders random:1 --plant drift --backend host --filter "
      "'*/d=64,hq=2,hkv=2,*'"
      " --filter '*/d=64,hq=2,hkv=1,*'",
      3);
}

TEST_F(CommandLineTest, EmptyValuesAreRefused) {
  for (const char* option :
       {"--json ''", "--worker ''", "--budget ''", "--filter ''", "--filter '!'"})
    expect_refused(harness(option), 2, "is empty");
}

TEST_F(CommandLineTest, AReportThatCannotBePrintedIsNoSuccess) {
  const std::string command = "PARITY_HOME='" + file("home").string() +
                              "' '" PARITY_HARNESS "' list >/dev/full 2>/dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 5);
}

TEST_F(CommandLineTest, ACompilersMessageReachesTheReport) {
  const Ran ran = run_harness(file("bogus-home"), "--backend host --filter '*/empty'",
                              "CXX='c++ --no-such-flag'");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.out.find("no-such-flag"), std::string::npos) << ran.out;
}

TEST_F(CommandLineTest, AnUnwritableHomeIsNamed) {
  const std::filesystem::path blocked = file("blocked");
  std::ofstream(blocked) << "a file, not a folder";
  const Ran ran = run_harness(blocked, "--backend host --filter '*empty*'");
  expect_refused(ran, 5, blocked.string());
}

TEST_F(CommandLineTest, AnUnreadablePackIsNamedAndSurvives) {
  const std::filesystem::path home = file("damaged-home");
  const std::string arguments = std::string("run") + kOneGeometry;
  ASSERT_EQ(run_harness(home, arguments).exit_code, 0);
  for (const auto& entry : std::filesystem::directory_iterator(home / "packs"))
    std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
  expect_refused(run_harness(home, arguments), 5, (home / "packs").string());
}

TEST_F(CommandLineTest, DamageInsideAPackIsNoKernelsFault) {
  const std::filesystem::path home = file("scratched-home");
  const std::string arguments = std::string("run") + kOneGeometry;
  ASSERT_EQ(run_harness(home, arguments).exit_code, 0);
  for (const auto& entry : std::filesystem::directory_iterator(home / "packs")) {
    if (entry.path().string().find(".inputs.") == std::string::npos) continue;
    std::fstream pack(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    pack.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
    pack << std::string(4096, 'x');
  }
  expect_refused(run_harness(home, arguments), 5, ".inputs.h5");
}

TEST_F(CommandLineTest, CudaWithoutADeviceIsAnInfrastructureError) {
  // Hides every GPU, so that this holds on machines with one too.
  expect_refused(harness("--backend cuda --filter '*empty*'", "CUDA_VISIBLE_DEVICES=-1"), 5,
                 "CUDA");
}

TEST_F(CommandLineTest, ADeviceIsAskedForBeforeCasesAreMade) {
  // Their data would take minutes.
  const TemporaryFolder home;
  expect_refused(run_harness(home.path(), "--suite full --backend cuda", "CUDA_VISIBLE_DEVICES=-1"),
                 5, "CUDA");
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(home.path()))
    if (file.is_regular_file()) bytes += file.file_size();
  EXPECT_LT(bytes, 1u << 20);
}

TEST_F(CommandLineTest, ListPrintsIdsThatReplayTakes) {
  const Ran ran = harness(std::string("list --filter '*/d=64,hq=8,hkv=2,page=16/ragged'"));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  std::istringstream lines(ran.out);
  std::string first, second;
  ASSERT_TRUE(std::getline(lines, first) && std::getline(lines, second)) << ran.out;
  const Ran replay = harness("replay " + first + " " + second + " --repeat 2 --backend host");
  EXPECT_EQ(replay.exit_code, 0) << replay.out << replay.err;
}

TEST_F(CommandLineTest, SmokeHoldsFortyToSixtyFourCases) {
  const Ran ran = harness("list");
  const auto lines = std::count(ran.out.begin(), ran.out.end(), '\n');
  EXPECT_GE(lines, 40);
  EXPECT_LE(lines, 64);
}

TEST_F(CommandLineTest, ShowSaysWhereTheRenderedSourceLies) {
  const Ran ran = harness(
      "show paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged --backend host");
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const std::size_t at = ran.out.find("source     ");
  ASSERT_NE(at, std::string::npos) << ran.out;
  const std::string path = ran.out.substr(at + 11, ran.out.find('\n', at) - at - 11);
  EXPECT_EQ(read_file(path).rfind("// parity module: paged_decode_v1<", 0), 0u) << path;
}

TEST_F(CommandLineTest, ACleanPermutedRunCoversEveryPairAndAccusesNobody) {
  const json run = report(std::string("--permute-order") + kOneGeometry, 0);
  const auto n = run["cases"].size();
  ASSERT_GE(n, 4u);
  EXPECT_EQ(run["findings"].size(), 0u);
  EXPECT_EQ(run["coverage"]["adjacent_pairs"]["possible"], n * (n - 1));
  EXPECT_EQ(run["coverage"]["adjacent_pairs"]["exercised"], n * (n - 1));
  for (const json& c : run["cases"]) {
    EXPECT_EQ(c["verdict"], "passed");
    EXPECT_EQ(c["distinct_bits"], 1);
  }
}

/// Dtypes of the module of an id "paged_decode_v1/q=f32,k=...", whose output is in q's dtype.
std::string dtypes(const std::string& id) {
  const std::size_t start = id.find('/') + 1;
  std::string q_k_v = id.substr(start, id.find('/', start) - start);
  const std::string q = q_k_v.substr(2, q_k_v.find(',') - 2);
  return q_k_v.insert(q_k_v.find(','), ",out=" + q);
}

std::string without_dtypes(const std::string& id) {
  const std::size_t start = id.find('/');
  return id.substr(0, start) + id.substr(id.find('/', start + 1));
}

TEST_F(CommandLineTest, TheWeakModuleKeyIsShrunkToTwoCasesNamedAndConfirmed) {
  const json run = report(std::string("--permute-order --plant weak_module_key") + kOneGeometry, 3);
  ASSERT_GE(run["findings"].size(), 1u);
  const json& finding = run["findings"][0];
  EXPECT_EQ(finding["kind"], "order_dependent");
  ASSERT_EQ(finding["sequence"].size(), 2u);
  const std::string a = finding["sequence"][0], b = finding["sequence"][1];
  EXPECT_EQ(without_dtypes(a), without_dtypes(b));
  EXPECT_EQ(finding["carrier"], "module_cache");
  EXPECT_EQ(finding["grade"], "confirmed");
  EXPECT_EQ(finding["built_for"], dtypes(a));
  EXPECT_EQ(finding["used_for"], dtypes(b));

  const json replay =
      report("replay " + a + " " + b + " --repeat 5 --plant weak_module_key --backend host", 3);
  EXPECT_EQ(replay["findings"][0]["reproduced"], json({5, 5}));
  EXPECT_EQ(replay["findings"][0]["alone"], json({0, 5}));
  report("replay " + b + " --plant weak_module_key --backend host", 0);
  report("replay " + a + " " + b + " --backend host", 0);
}

TEST_F(CommandLineTest, TheWeakModuleKeyIsFoundBetweenTwoSixteenBitTypes) {
  const json run = report(
      "--permute-dtype --plant weak_module_key --backend host"
      " --filter '*/q=f32,k=f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged'"
      " --filter '*/q=f32,k=bf16,v=f32/d=64,hq=8,hkv=2,page=16/ragged'",
      3);
  ASSERT_GE(run["findings"].size(), 1u);
  const std::set<std::string> both = {run["findings"][0]["built_for"],
                                      run["findings"][0]["used_for"]};
  EXPECT_EQ(both,
            (std::set<std::string>{"q=f32,out=f32,k=f16,v=f32", "q=f32,out=f32,k=bf16,v=f32"}));
}

TEST_F(CommandLineTest, DriftInsideTheToleranceIsFoundByBitsAlone) {
  const json run = report(std::string("--permute-order --plant drift") + kOneGeometry, 3);
  ASSERT_GE(run["findings"].size(), 1u);
  const json& finding = run["findings"][0];
  EXPECT_EQ(finding["kind"], "order_dependent");
  EXPECT_EQ(finding["fingerprint"], "bits");
  EXPECT_EQ(finding["sequence"].size(), 2u);
  EXPECT_EQ(finding["grade"], "unnamed");
  for (const json& c : run["cases"]) EXPECT_EQ(c["verdict"], "passed") << c;
}

TEST_F(CommandLineTest, TwoRunsWriteTheSameReport) {
  const std::string arguments =
      std::string("--permute-order --plant weak_module_key") + kOneGeometry;
  const json first = report(arguments, 3);
  EXPECT_EQ(report(arguments, 3).dump(), first.dump());
  EXPECT_EQ(report(arguments + " --jobs 1", 3).dump(), first.dump());
}

}  // namespace
}  // namespace parity::test
