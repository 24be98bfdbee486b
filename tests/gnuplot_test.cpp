// gnuplot as a child process: what it draws, and every way in which it does not.
#include "reports/gnuplot.hpp"

#include <gtest/gtest.h>

#include "datasets/errors.hpp"
#include "harness/child_process.hpp"
#include "tests/harness_process.hpp"
#include "tests/html_page.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

constexpr const char* kScript = "set terminal svg\nplot x\n";

TEST(GnuplotTest, AbsentIsSaid) {
  const TemporaryFolder folder;
  const test::OnlyPath path(folder.path());
  Gnuplot gnuplot;
  EXPECT_FALSE(gnuplot.draw(kScript));
  EXPECT_EQ(gnuplot.missing(), "no gnuplot in PATH; install gnuplot-nox");
}

TEST(GnuplotTest, FailureIsSaidInItsOwnWordsAndItIsNotAskedAgain) {
  const TemporaryFolder folder;
  const std::string asked = folder.path() / "asked";
  test::put_gnuplot(folder.path(),
                    "echo once >>'" + asked + "'\necho '\n  no terminal svg\nmore' >&2\nexit 1\n");
  const test::OnlyPath path(folder.path());
  Gnuplot gnuplot;
  EXPECT_FALSE(gnuplot.draw(kScript));
  EXPECT_FALSE(gnuplot.draw(kScript));
  EXPECT_EQ(gnuplot.missing(), "gnuplot ended with exit status 1: no terminal svg");
  EXPECT_EQ(test::read_file(asked), "once\n");
}

TEST(GnuplotTest, HangEndsAtItsLimit) {
  const TemporaryFolder folder;
  test::put_gnuplot(folder.path(), "while :; do :; done\n");
  const test::OnlyPath path(folder.path());
  Gnuplot gnuplot(std::chrono::milliseconds(200));
  EXPECT_FALSE(gnuplot.draw(kScript));
  EXPECT_EQ(gnuplot.missing(), "gnuplot did not end within 200 ms");
}

TEST(GnuplotTest, WhatItsChildLacksIsNotCalledAWorkers) {
  try {
    above_standard(-1);
    FAIL() << "there is no such descriptor";
  } catch (const DeviceError& error) {
    EXPECT_EQ(std::string(error.what()),
              "no descriptor for a child process: Bad file descriptor; raise `ulimit -n`");
  }
}

TEST(GnuplotTest, WhatIsNoSvgIsNotTaken) {
  const TemporaryFolder folder;
  test::put_gnuplot(folder.path(), "echo fine\n");
  const test::OnlyPath path(folder.path());
  Gnuplot gnuplot;
  EXPECT_FALSE(gnuplot.draw(kScript));
  EXPECT_EQ(gnuplot.missing(), "gnuplot did not write an SVG");
}

TEST(GnuplotTest, ScriptGoesInWholeAndThePlotComesOutWhole) {
  const TemporaryFolder folder;
  // More than a pipe holds, both ways.
  test::put_gnuplot(folder.path(),
                    "echo '<svg>'; while read -r line; do echo \"$line\"; done; echo '</svg>'\n");
  const test::OnlyPath path(folder.path());
  std::string script;
  for (int i = 0; i < 20000; ++i) script += "line " + std::to_string(i) + "\n";
  Gnuplot gnuplot;
  EXPECT_EQ(gnuplot.draw(script), "<svg>\n" + script + "</svg>\n");
  EXPECT_EQ(gnuplot.missing(), "");
}

TEST(GnuplotTest, NothingOfTheUsersReachesIt) {
  const TemporaryFolder folder;
  test::put_gnuplot(folder.path(), "echo '<svg>' \"$*\" \"$LC_ALL\" \"$GNUTERM\" \"$HOME\"\n");
  const test::OnlyPath path(folder.path());
  setenv("GNUTERM", "dumb", 1);
  Gnuplot gnuplot;
  EXPECT_EQ(gnuplot.draw(kScript), "<svg> -d - C  /nonexistent\n");
  unsetenv("GNUTERM");
}

}  // namespace
}  // namespace parity
