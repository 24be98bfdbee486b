// A night in a home of its own, from outside; one that is stopped or killed while it runs.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/file_lock.hpp"
#include "harness/paths.hpp"
#include "tests/program_home.hpp"

namespace parity::test {

/// Two cases of smoke, and of suite full the same.
inline constexpr const char* kTwoCases =
    " --backend host --filter 'split_kv_merge/*/d=128,h=1/empty'";

/// `harness ARGUMENTS` in the background; killed where it was not waited for.
class Background {
 public:
  Background(const std::filesystem::path& home, const std::string& arguments,
             std::filesystem::path out)
      : out_(std::move(out)) {
    const std::string command = "exec env PARITY_HOME='" + home.string() +
                                "' '" PARITY_HARNESS "' " + arguments + " >'" + out_.string() +
                                "' 2>&1 </dev/null";
    pid_ = fork();
    if (pid_ == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
  }
  ~Background() {
    if (pid_ > 0) end(SIGKILL);
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  std::string out() const { return read_file(out_); }
  void interrupt() const { kill(pid_, SIGINT); }
  /// Its exit code, or 128 and the signal's number. `signal` is sent first; 0: none is.
  int end(int signal = 0) {
    if (signal != 0) kill(pid_, signal);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  std::filesystem::path out_;
  pid_t pid_ = 0;
};

/// Looks until `holds`, or fails after two minutes.
inline bool wait_until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

class NightlyTest : public ProgramHomeTest {
 protected:
  std::filesystem::path night() const { return scratch_.path() / "night"; }
  std::string quoted(const std::filesystem::path& path) const { return "'" + path.string() + "'"; }
  /// Golden data of the two cases; as an option.
  std::string golden() const {
    const std::filesystem::path file = scratch_.path() / "golden.h5";
    if (std::filesystem::exists(file)) return " --golden " + quoted(file);
    const Ran ran = harness("golden regenerate --filter 'split_kv_merge/*/d=128,h=1/empty' --out " +
                            quoted(file));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return " --golden " + quoted(file);
  }
  std::string words(const std::string& arguments) const {
    return "nightly --out " + quoted(night()) + " " + arguments;
  }
  Ran nightly(const std::string& arguments, const std::string& environment = "") const {
    return harness(words(arguments), environment);
  }
  /// A night whose budget is spent before its first step can end, or begin.
  Ran cut_off(const std::string& arguments) const {
    Descriptor held = runs_held_up();
    Background process(home(), words("--budget 1ms " + arguments), scratch_.path() / "cut_off");
    EXPECT_TRUE(wait_until([&] {
      const std::string out = process.out();
      return out.find("stopping: ") != out.npos || out.find("not run: ") != out.npos;
    })) << process.out();
    held.reset();
    const int exit_code = process.end();
    return {exit_code, process.out(), ""};
  }
  std::string resumed_words(const std::string& arguments = "") const {
    return "nightly --resume " + quoted(night()) + " " + arguments;
  }
  Ran resumed(const std::string& arguments = "") const { return harness(resumed_words(arguments)); }

  nlohmann::json steps() const {
    return nlohmann::json::parse(read_file(night() / "night.json")).at("steps");
  }
  std::vector<int> exit_codes() const {
    std::vector<int> codes;
    for (const auto& step : steps()) codes.push_back(step.at("exit_code"));
    return codes;
  }
  static void write(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::remove(file);
    std::ofstream(file, std::ios::binary) << text;
  }

  static void refused(const Ran& ran, const std::string& why, int exit_code = 2) {
    EXPECT_EQ(ran.exit_code, exit_code) << ran.out << ran.err;
    EXPECT_NE(ran.err.find(why), std::string::npos) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }

  /// As long as this is held, a run waits before it begins its journal, or goes on with one.
  Descriptor runs_held_up() const {
    Descriptor lock(
        open(modules_lock_of(home() / "modules").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    EXPECT_EQ(try_lock(lock, Lock::exclusive), Locked::by_us);
    return lock;
  }
};

/// The process that writes its output to `file`, once it has become the harness.
inline std::optional<pid_t> writer_of(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (const auto& process : fs::directory_iterator("/proc", ignored))
    if (fs::read_symlink(process.path() / "fd" / "1", ignored) == file &&
        fs::read_symlink(process.path() / "exe", ignored) == fs::path(PARITY_HARNESS))
      return std::stoi(process.path().filename());
  return std::nullopt;
}

}  // namespace parity::test
