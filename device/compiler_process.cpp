// posix_spawn, a pipe, and waiting.
#include "device/compiler_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "datasets/errors.hpp"

namespace parity {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw DeviceError(
          fmt::format("process {} cannot be waited for: {}", child, std::strerror(errno)));
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

CompilerRun run_compiler(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& environment) {
  std::array<int, 2> output;
  if (pipe2(output.data(), O_CLOEXEC) != 0)
    throw DeviceError(fmt::format("no pipe for '{}': {}", arguments[0], std::strerror(errno)));
  FileActions actions;
  posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(actions.get(), output[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(actions.get(), output[1], STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0].c_str(), actions.get(), nullptr,
                                pointers(arguments).data(), pointers(environment).data());
  close(output[1]);
  CompilerRun result{.exit_code = 0, .output = error == 0 ? read_to_end(output[0]) : ""};
  close(output[0]);
  if (error != 0)
    throw DeviceError(
        fmt::format("'{}' cannot be started: {}", arguments[0], std::strerror(error)));
  result.exit_code = wait_for(child);
  return result;
}

}  // namespace parity
