// Calls that the built program refuses in one line, whatever words they hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/harness_process.hpp"

namespace parity::test {
namespace {

class RefusedCallTest : public ::testing::Test {
 protected:
  Ran harness(const std::string& arguments, const std::string& environment = "") const {
    return run_harness(home_.path(), arguments, environment);
  }
  static void expect_refused(const Ran& ran, int exit_code, const std::string& mention) {
    EXPECT_EQ(ran.exit_code, exit_code) << ran.out << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_NE(ran.err.find(mention), std::string::npos) << ran.err;
  }

  TemporaryFolder home_;
};

TEST_F(RefusedCallTest, APlantThatIsNamedTwiceIsRefused) {
  for (const char* command : {"--filter '*/empty'", "selftest", "audit"})
    expect_refused(harness(std::string(command) + " --plant drift --plant brittle --plant drift"),
                   2, "--plant drift is given twice");
}

TEST_F(RefusedCallTest, WordsThatCannotBePrintedAreShownEscapedOnOneLine) {
  const std::string word = R"x("$(printf 'a\nb\033[31m\377c')")x";
  for (const char* option : {"--plant ", "--filter ", "--resume ", "--suite ", "replay ", "show "})
    expect_refused(harness(option + word), 2, R"(a\x0ab\x1b[31m\xffc)");
}

TEST_F(RefusedCallTest, AHomeThatIsNotUtf8IsRefusedAtOnce) {
  const std::string home =
      "PARITY_HOME='" + (home_.path() / "a").string() + R"x('"$(printf '\377')")x";
  for (const char* command : {"--filter '*/empty'", "cache info", "selftest"})
    expect_refused(harness(command, home), 2, R"(a\xff)");
}

TEST_F(RefusedCallTest, AnEchoIsNoWorker) {
  const auto refused = [this](const std::string& worker, const std::string& mention) {
    expect_refused(harness("--filter '*/empty' --worker '" + worker + "'", "timeout 60"), 5,
                   mention);
  };
  refused("/bin/cat", "descriptor 3");
  refused("cat >&3", "sent its request back");
}

}  // namespace
}  // namespace parity::test
