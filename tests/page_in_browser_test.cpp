// The HTML page in a headless Chromium: plots drawn, filter, sorting and copying used, no errors on
// the console. Listed as skipped where there is no Chromium.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/harness_process.hpp"
#include "tests/html_page.hpp"
#include "tests/sample_night.hpp"

namespace parity {
namespace {

struct Seen {
  std::string dom;
  std::string console;  ///< lines that the page, or the browser about it, left there

  std::string data(const std::string& name) const {
    const auto found =
        test::all_between(dom.substr(0, dom.find("<head")), "data-" + name + "=\"", "\"");
    return found.empty() ? "never came to its end" : found.front();
  }
};

std::string chromium() {
  for (const char* const name : {"chromium", "chromium-browser", "google-chrome"})
    if (test::have_program(name)) return name;
  return "";
}

/// The page permits a probe beside its own script, and nothing else more than before.
std::string with_probe(std::string page) {
  const std::string policy = "script-src ";
  page.insert(page.find(policy) + policy.size(), "'nonce-probe' ");
  const std::string probe =
      test::read_file(std::filesystem::path(PARITY_SOURCE_DIR) / "tests/pages/probe.js");
  page.insert(page.rfind("</body>"), "<script nonce=\"probe\">" + probe + "</script>\n");
  return page;
}

Seen seen(const std::string& page, const std::string& options) {
  const TemporaryFolder folder;
  const std::string at = folder.path();
  std::ofstream(at + "/page.html", std::ios::binary) << with_probe(page);
  // A container has no user namespaces for the sandbox; the page is ours.
  const std::string command =
      "HOME='" + at + "' timeout 120 " + chromium() +
      " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --enable-logging=stderr "
      "--virtual-time-budget=60000 --user-data-dir='" +
      at + "/profile' " + options + " --dump-dom 'file://" + at + "/page.html' >'" + at +
      "/dom' 2>'" + at + "/log'";
  EXPECT_EQ(std::system(command.c_str()), 0) << test::read_file(at + "/log");
  Seen result{test::read_file(at + "/dom"), ""};
  std::istringstream log(test::read_file(at + "/log"));
  for (std::string line; std::getline(log, line);)
    if (line.find("CONSOLE") != std::string::npos) result.console += line + '\n';
  return result;
}

const char* const kWide = "--window-size=1400,1000 --blink-settings=preferredColorScheme=1";
const char* const kDark = "--window-size=1400,1000 --blink-settings=preferredColorScheme=0";
const char* const kNarrow = "--window-size=500,900";

class PageInBrowserTest : public testing::Test {
 protected:
  void SetUp() override {
    if (chromium().empty()) GTEST_SKIP() << "no Chromium; package chromium";
  }

  /// How many plots this page has here: none without gnuplot.
  static std::string plots(std::size_t count) {
    return std::to_string(test::have_program("gnuplot") ? count : 0);
  }

  static void expect_fine(const JoinedRuns& joined, const std::string& plot_count,
                          const std::string& options) {
    const Seen page = seen(test::html_of(joined), options);
    EXPECT_EQ(page.data("probe"), "fine");
    EXPECT_EQ(page.data("plots"), plot_count);
    EXPECT_EQ(page.console, "");
  }
};

TEST_F(PageInBrowserTest, NightWithEverythingIsFine) {
  expect_fine(sample_night(), plots(4), kWide);
}

TEST_F(PageInBrowserTest, NarrowPageIsFine) {
  expect_fine(sample_night(), plots(4), kNarrow);
}

TEST_F(PageInBrowserTest, SixtyFourCasesAreFine) {
  expect_fine(many_cases(64), plots(2), kWide);
}

TEST_F(PageInBrowserTest, TwoThousandCasesAreFine) {
  expect_fine(many_cases(2000), plots(2), kWide);
}

TEST_F(PageInBrowserTest, DarkPageIsDarkAndFine) {
  const std::string page = test::html_of(sample_night());
  const Seen dark = seen(page, kDark);
  EXPECT_EQ(dark.data("probe"), "fine");
  EXPECT_EQ(dark.console, "");
  EXPECT_NE(dark.data("ground"), seen(page, kWide).data("ground"));
}

/// The checks above can fail.
TEST_F(PageInBrowserTest, AScriptThatIsNotThePagesOwnIsRefusedAndSeen) {
  std::string page = test::html_of(sample_night());
  page.insert(page.find("\"use strict\""), "// another text\n");
  const Seen other = seen(page, kWide);
  EXPECT_NE(other.console.find("Content Security Policy"), std::string::npos) << other.console;
  EXPECT_NE(other.data("probe"), "fine");
}

TEST_F(PageInBrowserTest, MarksThatAreNotDrawnAreSeen) {
  if (!test::have_program("gnuplot")) GTEST_SKIP() << "no gnuplot; package gnuplot-nox";
  std::string page = test::html_of(sample_night());
  for (std::size_t at = page.find("<use href=\"#"); at != std::string::npos;
       at = page.find("<use href=\"#", at + 1))
    page.insert(at + 12, "no-");
  EXPECT_NE(seen(page, kWide).data("probe").find("marks are not drawn"), std::string::npos);
}

}  // namespace
}  // namespace parity
