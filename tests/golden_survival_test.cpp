// A golden file that is being written anew: whatever happens to the writer, the old one survives.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "datasets/pack.hpp"
#include "tests/harness_process.hpp"

namespace parity::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class GoldenSurvivalTest : public ::testing::Test {
 protected:
  /// The old file has two cases, the new one all of suite smoke.
  GoldenSurvivalTest() {
    const Ran ran = regenerate("", "--filter '*/single'");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    old_ = read_file(path());
  }
  std::string path() const { return (folder_.path() / "golden.h5").string(); }
  /// `before` is shell: what happens to the process that then becomes harness.
  Ran regenerate(const std::string& before, const std::string& options = "") const {
    const std::string out = (folder_.path() / "out").string();
    const std::string err = (folder_.path() / "err").string();
    const std::string command = "ulimit -c 0; " + before + " exec '" PARITY_HARNESS +
                                "' golden regenerate --out '" + path() + "' " + options + " >'" +
                                out + "' 2>'" + err + "' </dev/null";
    const int status = std::system(("sh -c '" + quoted(command) + "'").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out),
            read_file(err)};
  }
  /// The old file as it was, or the whole new one.
  void expect_whole(bool may_be_new) const {
    if (read_file(path()) == old_) return;
    EXPECT_TRUE(may_be_new);
    EXPECT_GT(PackReader(path()).ids().size(), 2u);
  }
  std::size_t leftovers() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      count += entry.path().filename().string().find(".tmp.") != std::string::npos ? 1 : 0;
    return count;
  }

  TemporaryFolder folder_;
  std::string old_;

 private:
  static std::string quoted(const std::string& text) {
    std::string result;
    for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result;
  }
};

pid_t start(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_RDWR);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    ::execl(PARITY_HARNESS, "harness", "golden", "regenerate", "--out", path.c_str(), nullptr);
    ::_exit(127);
  }
  return child;
}

TEST_F(GoldenSurvivalTest, KilledAtAnyTimeTheOldFileOrTheNewOneIsThere) {
  int killed = 0;
  for (const auto after : {0ms, 3ms, 10ms, 30ms, 70ms, 120ms, 200ms, 300ms}) {
    const pid_t writer = start(path());
    ASSERT_GT(writer, 0);
    std::this_thread::sleep_for(after);
    ::kill(writer, SIGKILL);
    int status = 0;
    ::waitpid(writer, &status, 0);
    if (WIFSIGNALED(status)) ++killed;
    expect_whole(true);
  }
  EXPECT_GT(killed, 0);
  EXPECT_EQ(regenerate("").exit_code, 0) << "what they left stops nobody";
  EXPECT_GT(PackReader(path()).ids().size(), 2u);
}

/// The kernel kills it in the midst of the bytes: at 1 KiB, a third and the last KiB.
TEST_F(GoldenSurvivalTest, KilledWhileItWritesTheOldFileIsThere) {
  const auto new_bytes = [&] {
    const std::string other = path();
    EXPECT_EQ(regenerate("").exit_code, 0);
    const auto size = fs::file_size(other);
    std::ofstream(other, std::ios::binary) << old_;
    return size;
  }();
  const auto in_half_kibs = [](std::uintmax_t bytes) { return std::to_string(bytes / 512); };
  for (const std::string& blocks :
       {in_half_kibs(1024), in_half_kibs(new_bytes / 3), in_half_kibs(new_bytes - 512)}) {
    const Ran ran = regenerate("ulimit -f " + blocks + ";");
    EXPECT_EQ(ran.exit_code, 128 + SIGXFSZ) << ran.err;
    EXPECT_EQ(read_file(path()), old_) << "at " << blocks << " blocks of " << new_bytes;
  }
  EXPECT_EQ(leftovers(), 3u) << "each had begun to write";
}

TEST_F(GoldenSurvivalTest, AFullDiskIsOneLineAndTheOldFileIsThere) {
  const Ran ran = regenerate("trap \"\" XFSZ; ulimit -f 64;");
  EXPECT_EQ(ran.exit_code, 5);
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  EXPECT_NE(ran.err.find(path()), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("File too large; make room"), std::string::npos) << ran.err;
  EXPECT_EQ(read_file(path()), old_);
  EXPECT_EQ(leftovers(), 0u);
}

TEST_F(GoldenSurvivalTest, CtrlCLeavesTheOldFileAndNothingElse) {
  const pid_t writer = start(path());
  ASSERT_GT(writer, 0);
  // Once its temporary file is there, it has made its Interrupt.
  for (int i = 0; i < 2000 && leftovers() == 0; ++i) std::this_thread::sleep_for(1ms);
  ::kill(writer, SIGINT);
  int status = 0;
  ::waitpid(writer, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  expect_whole(WEXITSTATUS(status) == 0);
  EXPECT_EQ(leftovers(), 0u);
}

}  // namespace
}  // namespace parity::test
