// harness golden from outside, and the golden data of suite smoke that is committed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "datasets/pack.hpp"
#include "harness/case.hpp"
#include "tests/harness_process.hpp"

namespace parity::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFew = "--filter 'split_kv_merge/*/single' --filter '*/offset'";
constexpr const char* kAgain =
    "harness golden regenerate --inputs recipe --out datasets/golden/smoke.h5";

/// Smoke cases that a glob names.
std::size_t smoke_of(const std::string& glob) {
  return select(suite_cases(registry(), Suite::smoke), {glob}).size();
}

/// How many kFew are, in words.
std::string few() {
  return std::to_string(smoke_of("split_kv_merge/*/single") + smoke_of("*/offset"));
}

fs::path committed() {
  return fs::path(PARITY_SOURCE_DIR) / "datasets" / "golden" / "smoke.h5";
}

class GoldenCommandTest : public ::testing::Test {
 protected:
  /// `file` is below the test's own folder.
  Ran golden(const std::string& arguments) const {
    return run_harness(folder_.path(), "golden " + arguments);
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  /// A few cases, in a file of this name.
  void write(const std::string& name, const std::string& options = kFew) const {
    const Ran ran = golden("regenerate " + options + " --out " + file(name));
    ASSERT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  }
  /// The cases of one file, changed, in another.
  template <class Change>
  void rewrite(const std::string& from, const std::string& to, const Change& change) const {
    const PackReader reader(file(from));
    PackWriter writer(file(to), reader.provenance());
    for (const std::string& id : reader.ids()) {
      PackCase one = reader.read(id);
      if (change(one)) writer.add(one);
    }
    writer.commit();
  }
  std::string first_id(const std::string& name) const { return PackReader(file(name)).ids().at(0); }

  TemporaryFolder folder_;
};

void expect_one_line(const Ran& ran, int exit_code, const std::string& part) {
  EXPECT_EQ(ran.exit_code, exit_code) << ran.out << ran.err;
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
}

TEST_F(GoldenCommandTest, TheCommittedFileHoldsSuiteSmokeAndVerifies) {
  ASSERT_TRUE(fs::exists(committed())) << "write it: " << kAgain;
  EXPECT_LE(fs::file_size(committed()), 2u << 20);
  std::vector<std::string> ids;
  for (const Case& c : suite_cases(registry(), Suite::smoke)) ids.push_back(c.id());
  EXPECT_EQ(PackReader(committed()).ids(), ids) << "suite smoke has changed; write it: " << kAgain;
  const Ran ran = golden("verify '" + committed().string() + "'");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err << "if that is meant: " << kAgain;
  EXPECT_EQ(ran.out, std::to_string(ids.size()) + " of " + std::to_string(ids.size()) +
                         " cases verified: inputs bit for bit, expected outputs to 1e-12\n");
}

TEST_F(GoldenCommandTest, TwoProcessesWriteTheSameBytesAtDifferentTimes) {
  write("a.h5");
  ::sleep(1);
  write("b.h5");
  EXPECT_EQ(read_file(file("a.h5")), read_file(file("b.h5")));
  const Ran same = golden("diff " + file("a.h5") + " " + file("b.h5"));
  EXPECT_EQ(same.exit_code, 0) << same.out;
  EXPECT_NE(same.out.find("\n0 of " + few() + " cases differ, 0 only in A, 0 only in B\n"),
            std::string::npos)
      << same.out;
}

TEST_F(GoldenCommandTest, VerifyNamesTheCaseTheTensorAndHowFar) {
  write("a.h5");
  const std::string id = first_id("a.h5");
  rewrite("a.h5", "b.h5", [&](PackCase& one) {
    Tensor& expected = *one.outputs[0].expected;
    if (one.id == id) expected.set(1, expected.at(1) * (1 + 1e-9));
    return true;
  });
  const Ran ran = golden("verify " + file("b.h5"));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_TRUE(ran.out.starts_with(id + "\n   expected out: 1 of ")) << ran.out;
  EXPECT_NE(ran.out.find("out[0,0,1]: "), std::string::npos) << ran.out;
  EXPECT_TRUE(ran.out.ends_with("\n1 of " + few() +
                                " cases differ; if that is meant, harness golden "
                                "regenerate\n"))
      << ran.out;
  EXPECT_EQ(golden("diff " + file("a.h5") + " " + file("b.h5")).exit_code, 1);
}

TEST_F(GoldenCommandTest, VerifySeesOneBitOfAnInputStoredOrNot) {
  write("whole.h5");
  write("recipe.h5", std::string(kFew) + " --inputs recipe");
  for (const std::string name : {"whole.h5", "recipe.h5"}) {
    rewrite(name, "changed.h5", [](PackCase& one) {
      PackInput& input = one.inputs[0];
      if (!input.data) {
        input.digest.low ^= 1;
        return true;
      }
      input.data->bytes()[3] ^= std::byte{1};
      input.digest = digest(*input.data);
      return true;
    });
    const Ran ran = golden("verify " + file("changed.h5"));
    EXPECT_EQ(ran.exit_code, 1) << name;
    EXPECT_NE(ran.out.find(name == "whole.h5" ? "\n   input q: 1 of "
                                              : "\n   digest of input q (its elements are not "),
              std::string::npos)
        << ran.out;
    EXPECT_NE(ran.out.find(few() + " of " + few() + " cases differ"), std::string::npos) << ran.out;
  }
}

TEST_F(GoldenCommandTest, ASampleIsTheSameForTheSameSeed) {
  write("a.h5");
  const std::string id = PackReader(file("a.h5")).ids().back();
  rewrite("a.h5", "b.h5", [&](PackCase& one) {
    if (one.id == id) one.seed ^= 1;
    return true;
  });
  std::vector<int> codes;
  for (int seed = 0; seed < 8; ++seed) {
    const std::string sample = "verify " + file("b.h5") + " --sample 4 --seed ";
    const Ran ran = golden(sample + std::to_string(seed));
    EXPECT_TRUE(ran.out.starts_with("sample of 4 of " + few() + " cases, seed " +
                                    std::to_string(seed) + "\n"))
        << ran.out;
    codes.push_back(ran.exit_code);
    EXPECT_EQ(golden(sample + std::to_string(seed)).out, ran.out);
  }
  EXPECT_TRUE(std::ranges::count(codes, 0) > 0 && std::ranges::count(codes, 1) > 0)
      << "the one that differs is in some samples";
}

TEST_F(GoldenCommandTest, CasesThatThisProgramHasNotAreNamed) {
  write("a.h5");
  const std::string id = first_id("a.h5");
  rewrite("a.h5", "b.h5", [&](PackCase& one) {
    if (one.id == id) one.id = "other_kernel" + id.substr(id.find('/'));
    return true;
  });
  const Ran ran = golden("verify " + file("b.h5"));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_TRUE(ran.out.starts_with("other_kernel/")) << ran.out;
  EXPECT_NE(ran.out.find("\n   no case of this program: "), std::string::npos) << ran.out;
  const Ran diff = golden("diff " + file("a.h5") + " " + file("b.h5"));
  EXPECT_EQ(diff.exit_code, 1);
  EXPECT_NE(diff.out.find("only in A  " + id + "\n"), std::string::npos) << diff.out;
  EXPECT_NE(diff.out.find("only in B  other_kernel/"), std::string::npos) << diff.out;
}

TEST_F(GoldenCommandTest, AFileThatProvesNothingIsNoSuccess) {
  write("a.h5");
  rewrite("a.h5", "none.h5", [](PackCase&) { return false; });
  expect_one_line(golden("verify " + file("none.h5")), 2, "nothing was verified");
  rewrite("a.h5", "worker.h5", [](PackCase& one) {
    for (PackOutput& output : one.outputs) output.expected = output.bound = std::nullopt;
    return true;
  });
  const Ran ran = golden("verify " + file("worker.h5"));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.out.find("expected out: missing in the file, there computed"), std::string::npos)
      << ran.out;
}

TEST_F(GoldenCommandTest, InfoSaysWhatAFileHolds) {
  write("a.h5");
  const PackReader pack(file("a.h5"));
  const Ran ran = golden("info " + file("a.h5"));
  EXPECT_EQ(ran.exit_code, 0);
  for (const std::string& part :
       {"bytes      " + std::to_string(pack.bytes()), std::string("schema     parity.pack/2"),
        "digest     " + pack.seal().hex(), "build      " + pack.provenance().build,
        "reference  1\ncases      " + few() + "\noperations paged_decode " +
            std::to_string(smoke_of("*/offset")) + ", split_kv_merge " +
            std::to_string(smoke_of("split_kv_merge/*/single")) + "\n",
        std::string("dtypes     bf16 "), "case       " + pack.ids().back()})
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << " in " << ran.out;
}

TEST_F(GoldenCommandTest, FilesThatAreNoGoldenDataGetOneLine) {
  write("a.h5");
  const std::string whole = read_file(file("a.h5"));
  const auto put = [&](const std::string& bytes) {
    std::ofstream(file("bad.h5"), std::ios::binary) << bytes;
  };
  const std::string verify = "verify " + file("bad.h5");
  expect_one_line(golden(verify), 5, "No such file");
  put(whole.substr(0, whole.size() / 2));
  expect_one_line(golden(verify), 5, "cut short");
  put("parity.pack/1" + whole.substr(13));
  expect_one_line(golden(verify), 5, "its schema is 'parity.pack/1'");
  put("a text");
  for (const char* action : {"verify ", "info ", "diff " PARITY_HARNESS " "})
    expect_one_line(golden(action + file("bad.h5")), 5, "it is no pack");
  expect_one_line(golden("verify " + folder_.path().string()), 5, "not a regular file");
  put(whole);
  EXPECT_EQ(golden(verify).exit_code, 0);
}

TEST_F(GoldenCommandTest, AFileThatAnotherProcessHoldsLockedIsReadAndReplaced) {
  write("a.h5");
  const int held = ::open(file("a.h5").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  EXPECT_EQ(golden("verify " + file("a.h5")).exit_code, 0);
  write("a.h5");
  ::close(held);
}

TEST_F(GoldenCommandTest, OutIsAFileOrANewOne) {
  const std::string one = std::string("regenerate ") + kFew + " --out ";
  expect_one_line(golden(one + "/dev/null"), 2, "no regular file");
  expect_one_line(golden(one + folder_.path().string()), 2, "is a folder");
  expect_one_line(golden(one + file("absent/a.h5")), 2, "cannot be written");
  expect_one_line(golden("regenerate --filter nothing"), 2, "nothing");
  write("a.h5");
  fs::create_symlink("a.h5", file("link.h5"));
  rewrite("a.h5", "a.h5", [](PackCase&) { return false; });
  write("link.h5");
  EXPECT_TRUE(fs::is_symlink(file("link.h5")));
  EXPECT_EQ(std::to_string(PackReader(file("a.h5")).ids().size()), few());
}

}  // namespace
}  // namespace parity::test
