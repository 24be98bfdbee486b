// Where tests that run kernels run them, and keep what the harness keeps.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "device/runtime.hpp"

namespace parity::test {

/// One PARITY_HOME for all test processes of a build: modules are found by content, so each is
/// compiled once.
inline std::filesystem::path test_home() {
  return std::filesystem::path(PARITY_HARNESS).parent_path() / "test_home";
}

/// PARITY_TEST_BACKEND: host (unless set) or cuda.
inline BackendKind test_backend() {
  const char* const set = std::getenv("PARITY_TEST_BACKEND");
  const std::string word = set == nullptr ? "host" : set;
  if (word == "host") return BackendKind::host;
  if (word == "cuda") return BackendKind::cuda;
  throw std::runtime_error("PARITY_TEST_BACKEND is '" + word + "', but must be host or cuda");
}

}  // namespace parity::test
