// The built program with a home of its own, in which runs leave what later ones find.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/harness_process.hpp"
#include "tests/test_home.hpp"

namespace parity::test {

/// Four cases, quick, and nothing to find.
inline constexpr const char* kFourCases = "--permute-order --backend host --filter '*/empty'";

class ProgramHomeTest : public ::testing::Test {
 protected:
  /// Modules are found by content, so each is compiled once for all tests.
  void SetUp() override {
    std::filesystem::create_directories(home());
    std::filesystem::create_directories(test_home() / "modules");
    std::filesystem::create_directory_symlink(test_home() / "modules", home() / "modules");
  }
  Ran harness(const std::string& arguments, const std::string& environment = "") const {
    return run_harness(home(), arguments, environment);
  }
  std::filesystem::path home() const { return scratch_.path() / "home"; }
  std::filesystem::path runs() const { return home() / "runs"; }
  /// The only run folder.
  std::filesystem::path run() const {
    const std::vector<std::filesystem::path> all(std::filesystem::directory_iterator(runs()),
                                                 std::filesystem::directory_iterator{});
    EXPECT_EQ(all.size(), 1u);
    return all.at(0);
  }
  std::filesystem::path report() const { return scratch_.path() / "report.json"; }
  std::string with_report(const std::string& arguments) const {
    return arguments + " --json '" + report().string() + "'";
  }

  TemporaryFolder scratch_;
};

}  // namespace parity::test
