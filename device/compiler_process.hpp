// Runs a compiler to its end, without a shell, and collects what it prints.
#pragma once

#include <string>
#include <vector>

namespace parity {

struct CompilerRun {
  int exit_code;       ///< 128 + signal where a signal ended it
  std::string output;  ///< standard output and standard error together
};

/// `arguments[0]` is the program's path. Its environment is exactly `environment` ("NAME=value"),
/// its standard input is empty. Thread-safe. Throws DeviceError when it cannot be started.
CompilerRun run_compiler(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& environment);

}  // namespace parity
