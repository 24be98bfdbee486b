// Where tests that run kernels keep what the harness keeps.
#pragma once

#include <filesystem>

namespace parity::test {

/// One PARITY_HOME for all test processes of a build: modules are found by content, so each is
/// compiled once.
inline std::filesystem::path test_home() {
  return std::filesystem::path(PARITY_HARNESS).parent_path() / "test_home";
}

}  // namespace parity::test
