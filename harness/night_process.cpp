// Descriptors and environment of a step's process.
#include "harness/night_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/child_process.hpp"
#include "harness/shown_text.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

/// Above what a child's descriptors are mapped to.
Descriptor opened(const fs::path& path, int flags) {
  const Descriptor file(open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (file.number() < 0)
    throw DatasetError(fmt::format("{} cannot be opened: {}; make room or name another folder",
                                   path.string(), std::strerror(errno)));
  return above_standard(file.number());
}

/// First or last line that says something.
std::string telling_line(const fs::path& path, bool first) {
  std::ifstream in(path, std::ios::binary);
  std::string best;
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    best = shown_line(line);
    if (first) break;
  }
  return best;
}

/// This process's environment, and what makes the step keep its runs here and draw on our terminal.
std::vector<std::string> environment_of(const fs::path& runs) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (const std::string_view text = *variable;
        !text.starts_with("PARITY_RUNS=") && !text.starts_with("PARITY_PROGRESS="))
      variables.emplace_back(text);
  variables.push_back("PARITY_RUNS=" + runs.string());
  variables.push_back("PARITY_PROGRESS=3");
  return variables;
}

}  // namespace

StepEnd run_step(const NightFolder& folder, const NightStep& step, const std::string& command,
                 const std::function<std::string()>& why_stopped) {
  const Descriptor nothing = opened("/dev/null", O_RDWR);
  const Descriptor output = opened(folder.said(step), O_WRONLY | O_CREAT | O_TRUNC);
  const Descriptor errors = opened(folder.errors(step), O_WRONLY | O_CREAT | O_TRUNC);
  const Descriptor terminal = above_standard(STDERR_FILENO);
  const ChildProcess child(command, environment_of(folder.runs(step)),
                           {.input = nothing.number(),
                            .output = output.number(),
                            .errors = errors.number(),
                            .replies = terminal.number()});
  StepEnd end;
  std::optional<std::string> how;
  while (!(how = child.wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(100)))) {
    if (!end.stopped.empty()) continue;
    end.stopped = why_stopped();
    if (end.stopped.empty()) continue;
    child.interrupt();
    fmt::print("   stopping: {}\n", end.stopped);
    std::fflush(stdout);
  }
  std::ifstream in(folder.errors(step), std::ios::binary);
  for (std::string line; std::getline(in, line);) fmt::print(stderr, "{}\n", shown_line(line));
  end.exit_code = child.exit_code().value();
  end.how = *how;
  end.said = telling_line(folder.said(step), step.verdict_first);
  if (end.said.empty()) end.said = telling_line(folder.errors(step), false);
  return end;
}

}  // namespace parity
