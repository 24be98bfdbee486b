// Runs the built harness as a person would: its exit code and what it printed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

#include "tests/temporary_folder.hpp"

namespace parity::test {

struct Ran {
  int exit_code = -1;
  std::string out;
  std::string err;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// `harness ARGUMENTS` with PARITY_HOME at `home`, through the shell; `environment` goes in front.
inline Ran run_harness(const std::filesystem::path& home, const std::string& arguments,
                       const std::string& environment = "") {
  const TemporaryFolder scratch;
  const std::string out = (scratch.path() / "out").string();
  const std::string err = (scratch.path() / "err").string();
  const std::string command = "PARITY_HOME='" + home.string() + "' " + environment +
                              " '" PARITY_HARNESS "' " + arguments + " >'" + out + "' 2>'" + err +
                              "' </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out),
          read_file(err)};
}

}  // namespace parity::test
