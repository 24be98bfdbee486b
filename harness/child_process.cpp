// A child process in a group of its own.
#include "harness/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "datasets/errors.hpp"

namespace parity {
namespace {

using Clock = std::chrono::steady_clock;

/// Above every number that a child's descriptors are mapped to.
constexpr int kFirstFree = 10;
/// A killed process ends at once, unless it hangs inside a driver; it must not take the run with
/// it.
constexpr std::chrono::seconds kKillLimit{30};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// In the child: only async-signal-safe calls, for other threads may have held any lock at the
/// fork.
[[noreturn]] void become(char* const* arguments, char* const* environment,
                         const ChildDescriptors& descriptors, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it died before the line above
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);  // an ignored signal would stay ignored through exec
  const rlimit no_core = {0, 0};  // writing gigabytes of core would look like a hang
  setrlimit(RLIMIT_CORE, &no_core);
  dup2(descriptors.input, 0);
  dup2(descriptors.output, 1);
  dup2(descriptors.errors, 2);
  dup2(descriptors.replies, 3);
  // Libraries (HDF5 among them) open files without close-on-exec.
  if (close_range(4, ~0U, 0) != 0) {
    for (int number = 4; number < 4096; ++number) close(number);
  }
  execve("/bin/sh", arguments, environment);
  _exit(127);
}

/// Of a child that has ended. Leaves its remains (WNOWAIT), so that the process group's number
/// stays ours until kill().
std::optional<siginfo_t> end_of(pid_t pid) {
  siginfo_t info = {};
  const int result = waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
  if (pid <= 0 || result != 0 || info.si_pid == 0) return std::nullopt;
  return info;
}

std::string words(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return fmt::format("exit status {}", info.si_status);
  const char* description = sigdescr_np(info.si_status);
  return fmt::format("signal {} ({})", info.si_status,
                     description == nullptr ? "without a name" : description);
}

}  // namespace

void Descriptor::reset() noexcept {
  if (number_ >= 0) close(number_);
  number_ = -1;
}

Descriptor above_standard(int number) {
  const int high = fcntl(number, F_DUPFD_CLOEXEC, kFirstFree);
  if (high < 0) {
    throw DeviceError(fmt::format("no descriptor for a child process: {}; raise `ulimit -n`",
                                  std::strerror(errno)));
  }
  return Descriptor(high);
}

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw DeviceError(
        fmt::format("no pipe for a child process: {}; raise `ulimit -n`", std::strerror(errno)));
  }
  const Descriptor read_end(ends[0]);
  const Descriptor write_end(ends[1]);
  return {above_standard(read_end.number()), above_standard(write_end.number())};
}

ChildProcess::ChildProcess(const std::string& command, const std::vector<std::string>& environment,
                           const ChildDescriptors& descriptors) {
  const std::vector<std::string> arguments = {"sh", "-c", "exec " + command};
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    become(argument_pointers.data(), environment_pointers.data(), descriptors, parent);
  }
  if (pid_ < 0) {
    throw DeviceError(fmt::format("cannot start a child process: {}", std::strerror(errno)));
  }
  setpgid(pid_, pid_);  // here too, so that the group is there whoever runs first
}

ChildProcess::~ChildProcess() {
  kill();
}

std::optional<std::string> ChildProcess::ended() const {
  const std::optional<siginfo_t> info = end_of(pid_);
  return info ? std::optional(words(*info)) : std::nullopt;
}

std::optional<int> ChildProcess::exit_code() const {
  constexpr int kSignalled = 128;
  const std::optional<siginfo_t> info = end_of(pid_);
  if (!info) return std::nullopt;
  return info->si_code == CLD_EXITED ? info->si_status : kSignalled + info->si_status;
}

void ChildProcess::interrupt() const {
  if (pid_ > 0) ::kill(pid_, SIGINT);
}

std::optional<std::string> ChildProcess::wait(Clock::time_point deadline) const {
  std::optional<std::string> end = ended();
  while (!end && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    end = ended();
  }
  return end;
}

void ChildProcess::kill() noexcept {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);  // should it not have made its group yet
  const Clock::time_point deadline = Clock::now() + kKillLimit;
  while (waitpid(pid_, nullptr, WNOHANG) == 0 && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  pid_ = 0;
}

}  // namespace parity
