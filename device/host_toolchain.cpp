// The system's C++ compiler as a toolchain: kernel text to a shared object for the host backend.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "device/compiler_process.hpp"
#include "device/host_cpu.hpp"
#include "device/toolchain.hpp"

namespace parity {
namespace {

/// The program as PATH finds it; empty when there is none.
std::string find_program(const std::string& name) {
  const auto executable = [](const std::string& path) {
    return access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path);
  };
  if (name.find('/') != std::string::npos) return executable(name) ? name : "";
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (executable(candidate)) return candidate;
  }
  return "";
}

/// $CXX, split at blanks, else c++, else g++; the first word becomes a path.
std::vector<std::string> find_compiler() {
  const char* const chosen = std::getenv("CXX");
  std::istringstream words(chosen == nullptr ? "" : chosen);
  std::vector<std::string> command{std::istream_iterator<std::string>(words), {}};
  if (!command.empty()) {
    const std::string program = find_program(command[0]);
    if (program.empty())
      throw DeviceError(
          fmt::format("the host backend needs a C++ compiler, and CXX names '{}', which "
                      "cannot be run; set CXX to one that can, or unset it",
                      command[0]));
    command[0] = program;
    return command;
  }
  for (const char* name : {"c++", "g++"})
    if (const std::string program = find_program(name); !program.empty()) return {program};
  throw DeviceError(
      "the host backend needs a C++ compiler, and neither c++ nor g++ is in PATH; install "
      "g++ (apt-get install g++) or set CXX");
}

/// Only what a compiler needs to work at all, so that nothing else can change the code.
std::vector<std::string> compiler_environment() {
  std::vector<std::string> environment = {"LC_ALL=C"};
  for (const char* name : {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"})
    if (const char* const value = std::getenv(name))
      environment.push_back(std::string(name) + "=" + value);
  return environment;
}

/// "/usr/bin/x86_64-linux-gnu-g++-12: (Debian 12.2.0-14) 12.2.0": nothing of how the path was
/// spelled.
std::string compiler_version(const std::vector<std::string>& command) {
  std::vector<std::string> arguments = command;
  arguments.push_back("--version");
  const CompilerRun result = run_compiler(arguments, compiler_environment());
  std::string line = result.output.substr(0, result.output.find('\n'));
  if (result.exit_code != 0 || line.empty())
    throw DeviceError(
        fmt::format("'{} --version' failed ({}): {}; set CXX to a working C++ compiler", command[0],
                    result.exit_code, line));
  // GCC prints the name that it was called by.
  const std::string called = std::filesystem::path(command[0]).filename().string() + " ";
  if (line.starts_with(called)) line.erase(0, called.size());
  return fmt::format("{}: {}", std::filesystem::canonical(command[0]).string(), line);
}

std::vector<std::string> compiler_options(const HostCpu& cpu) {
  std::vector<std::string> options = {"-std=c++20",
                                      "-O2",
                                      "-g1",
                                      "-fPIC",
                                      "-shared",
                                      "-fno-math-errno",
                                      "-ffp-contract=off",
                                      "-fvisibility=hidden",
                                      "-DPARITY_HOST_MODULE=1"};
  options.insert(options.end(), cpu.compiler_options.begin(), cpu.compiler_options.end());
  if (const std::string_view sanitizers = PARITY_SANITIZE; !sanitizers.empty()) {
    options.push_back(fmt::format("-fsanitize={}", sanitizers));
    options.push_back("-fno-sanitize-recover=all");
    options.push_back("-fno-omit-frame-pointer");
    options.push_back("-O1");  // the last one counts: optimising checks costs more than they do
  }
  return options;
}

/// A new empty file that goes when this does.
class TemporaryFile {
 public:
  TemporaryFile() : path_((std::filesystem::temp_directory_path() / "parity-XXXXXX").string()) {
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0)
      throw DeviceError(fmt::format("no temporary file '{}': {}; set TMPDIR to a folder with space",
                                    path_, std::strerror(errno)));
    close(descriptor);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

  std::vector<std::byte> read() const {
    std::ifstream file(path_, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
    return {first, first + bytes.size()};
  }

 private:
  std::string path_;
};

class HostToolchain final : public Toolchain {
 public:
  HostToolchain() : command_(find_compiler()) {
    const HostCpu cpu = read_host_cpu();
    identity_ = {.name = "host",
                 .version = compiler_version(command_),
                 .architecture = cpu.architecture,
                 .options = compiler_options(cpu)};
    identity_.options.insert(identity_.options.begin(), command_.begin() + 1, command_.end());
  }

  const ToolchainIdentity& identity() const override { return identity_; }
  std::string image_suffix() const override { return ".so"; }

  std::vector<std::byte> compile(const std::string&,
                                 const std::string& source_path) const override {
    const TemporaryFile image;
    std::vector<std::string> arguments = {command_[0]};
    arguments.insert(arguments.end(), identity_.options.begin(), identity_.options.end());
    for (const std::string& last :
         {std::string("-x"), std::string("c++"), source_path, std::string("-o"), image.path()})
      arguments.push_back(last);
    const CompilerRun result = run_compiler(arguments, compiler_environment());
    if (result.exit_code != 0)
      throw CompileError(fmt::format("'{}' does not compile with {} (exit code {}): {}\n{}",
                                     source_path, command_[0], result.exit_code,
                                     first_error(result.output), result.output));
    return image.read();
  }

 private:
  std::vector<std::string> command_;  // the program's path, then what $CXX adds to it
  ToolchainIdentity identity_;
};

}  // namespace

std::unique_ptr<Toolchain> make_host_toolchain() {
  return std::make_unique<HostToolchain>();
}

}  // namespace parity
