// Runs gnuplot with its script, its plot and its log in files that only this process sees.
#include "reports/gnuplot.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/child_process.hpp"

namespace parity {
namespace {

constexpr std::size_t kLargestPlot = 16 << 20;  ///< bytes; a plot of ours has some ten thousand
constexpr std::size_t kQuoted = 200;            ///< bytes of gnuplot's own words

Descriptor file_in_memory() {
  const Descriptor file(memfd_create("plot", MFD_CLOEXEC));
  if (file.number() < 0)
    throw DeviceError(fmt::format("no file in memory: {}", std::strerror(errno)));
  return above_standard(file.number());
}

void fill(const Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file.number(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw DeviceError(fmt::format("no memory: {}", std::strerror(errno)));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  lseek(file.number(), 0, SEEK_SET);
}

std::string content(const Descriptor& file) {
  std::string text;
  std::string block(1 << 16, '\0');
  for (off_t at = 0; text.size() <= kLargestPlot;) {
    const ssize_t bytes = pread(file.number(), block.data(), block.size(), at);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    text.append(block, 0, static_cast<std::size_t>(bytes));
    at += bytes;
  }
  return text;
}

bool in_path() {
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::filesystem::path file = std::filesystem::path(folders.substr(0, end)) / "gnuplot";
    if (access(file.c_str(), X_OK) == 0) return true;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return false;
}

/// Nothing of the user's may change a plot: no init files (-d), no other locale, no variables.
std::vector<std::string> environment() {
  return {std::string("PATH=") + std::getenv("PATH"), "LC_ALL=C", "HOME=/nonexistent"};
}

std::string first_line(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  text.remove_prefix(begin);
  return std::string(text.substr(0, std::min(text.find('\n'), kQuoted)));
}

}  // namespace

std::optional<std::string> Gnuplot::draw(const std::string& script) {
  if (!missing_.empty()) return std::nullopt;
  if (!in_path()) {
    missing_ = "no gnuplot in PATH; install gnuplot-nox";
    return std::nullopt;
  }
  try {
    const Descriptor input = file_in_memory();
    const Descriptor log = file_in_memory();
    const Descriptor plot = file_in_memory();
    fill(input, script);
    ChildProcess child("gnuplot -d - >&3", environment(),
                       {input.number(), log.number(), log.number(), plot.number()});
    const auto end = child.wait(std::chrono::steady_clock::now() + limit_);
    child.kill();
    const std::string said = first_line(content(log));
    std::string svg = content(plot);
    if (!end) {
      missing_ = fmt::format("gnuplot did not end within {} ms", limit_.count());
    } else if (*end != kEndedWell) {
      missing_ = fmt::format("gnuplot ended with {}{}{}", *end, said.empty() ? "" : ": ", said);
    } else if (svg.find("<svg") == std::string::npos || svg.size() > kLargestPlot) {
      missing_ = "gnuplot did not write an SVG";
    } else {
      return svg;
    }
  } catch (const DeviceError& error) {
    missing_ = error.what();
  }
  return std::nullopt;
}

}  // namespace parity
