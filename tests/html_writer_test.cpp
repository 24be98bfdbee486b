// The HTML page: one small page to the letter, and what must hold for every page.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tests/harness_process.hpp"
#include "tests/html_page.hpp"
#include "tests/sample_night.hpp"

namespace parity {
namespace {

using test::all_between;
using test::count_of;
using test::html_of;

JoinedRuns one_finding() {
  JoinedRuns joined;
  joined.commit = "0123abc";
  joined.runs.push_back({"", planted_report()});
  return joined;
}

std::string page_without_gnuplot(const JoinedRuns& joined) {
  const TemporaryFolder empty;
  const test::OnlyPath path(empty.path());
  return html_of(joined);
}

/// What is of this page alone: style and script stand in files of their own.
std::string body(const std::string& page) {
  const std::size_t begin = page.find("<body>");
  return page.substr(begin, page.find("<script>") - begin);
}

/// To write the page anew from the repository's root, then look at what git says has changed:
///   PARITY_WRITE_PAGES=1 build/release/reports_tests --gtest_filter='HtmlWriterTest.SmallPage*'
TEST(HtmlWriterTest, SmallPageWithoutGnuplotInFull) {
  const std::filesystem::path file =
      std::filesystem::path(PARITY_SOURCE_DIR) / "tests/pages/one_finding.html";
  const std::string page = body(page_without_gnuplot(one_finding()));
  if (std::getenv("PARITY_WRITE_PAGES") != nullptr) {
    std::ofstream(file, std::ios::binary) << page;
    FAIL() << "written anew, not tested: " << file;
  }
  EXPECT_EQ(page, test::read_file(file));
}

TEST(HtmlWriterTest, EqualRunsGiveEqualPages) {
  const std::string page = html_of(sample_night());
  EXPECT_EQ(page, html_of(sample_night()));
  JoinedRuns other = sample_night();
  other.runs[0].report.cases[0].error *= 1.5;
  EXPECT_NE(page, html_of(other));
}

TEST(HtmlWriterTest, PageIsWellFormed) {
  if (!test::have_program("xmllint")) GTEST_SKIP() << "no xmllint; package libxml2-utils";
  const TemporaryFolder folder;
  const std::string file = folder.path() / "page.html";
  for (const JoinedRuns& joined : {JoinedRuns{}, one_finding(), sample_night()})
    for (const bool plots : {true, false}) {
      std::ofstream(file, std::ios::binary)
          << (plots ? html_of(joined) : page_without_gnuplot(joined));
      const std::string log = folder.path() / "log";
      EXPECT_EQ(std::system(("xmllint --noout '" + file + "' 2>'" + log + "'").c_str()), 0)
          << test::read_file(log);
    }
}

TEST(HtmlWriterTest, WordsOfWorkersAreNothingButText) {
  const std::string page = html_of(sample_night());
  EXPECT_EQ(count_of(page, "alert(1)"), count_of(page, "&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_GE(count_of(page, "alert(1)"), 5u);
  EXPECT_EQ(count_of(page, "<script"), 1u);
  EXPECT_NE(page.find("&quot;q&quot; &#39;a&#39; &amp; \\x1b[31m\\x0a\\xff \\xe2\\x80\\xae "
                      "\\xef\\xbf\\xbe"),
            std::string::npos);
  for (const char* const raw : {"\x1b", "\xff", "\xe2\x80\xae", "\xef\xbf\xbe"})
    EXPECT_EQ(page.find(raw), std::string::npos);
}

TEST(HtmlWriterTest, EveryIdIsThereOnceAndEveryReferenceLeadsToOne) {
  const std::string page = html_of(sample_night());
  std::multiset<std::string> ids;
  for (const std::string& id : all_between(page, " id=\"", "\"")) ids.insert(id);
  EXPECT_GT(ids.size(), 40u);
  for (const std::string& id : ids) EXPECT_EQ(ids.count(id), 1u) << id;
  std::vector<std::string> wanted = all_between(page, "href=\"#", "\"");
  for (const char* const attribute :
       {"aria-labelledby=\"", "aria-describedby=\"", "data-copy=\"", " for=\""})
    for (const std::string& list : all_between(page, attribute, "\""))
      for (std::istringstream words(list); !words.eof();) words >> wanted.emplace_back();
  EXPECT_GT(wanted.size(), 40u);
  for (const std::string& id : wanted) EXPECT_EQ(ids.count(id), 1u) << id;
}

TEST(HtmlWriterTest, NothingIsFetchedAndOnlyItsOwnStyleAndScriptCount) {
  const std::string page = html_of(sample_night());
  EXPECT_EQ(count_of(page, "http"), count_of(page, "http://www.w3.org/2000/svg") + 1);
  EXPECT_EQ(count_of(page, "http-equiv"), 1u);
  for (const char* const word : {" src=", " style=", "@import", " onclick=", "<link", "url("})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  EXPECT_NE(page.find("content=\"default-src 'none'; style-src 'sha256-"), std::string::npos);
  EXPECT_EQ(count_of(page, "unsafe"), 0u);
}

TEST(HtmlWriterTest, HeadingsAreInOrder) {
  for (const JoinedRuns& joined : {JoinedRuns{}, one_finding(), sample_night()}) {
    const std::string page = html_of(joined);
    char before = '0';
    for (const std::string& heading : all_between(page, "<h", ">")) {
      const char level = heading[0];
      if (level < '1' || level > '6') continue;
      EXPECT_LE(level, before + 1) << heading;
      before = level;
    }
    EXPECT_EQ(count_of(page, "<h1>"), 1u);
  }
}

TEST(HtmlWriterTest, TablesAndButtonsSayWhatTheyAre) {
  const std::string page = html_of(sample_night());
  EXPECT_EQ(count_of(page, "<table "), count_of(page, "<caption "));
  EXPECT_EQ(count_of(page, "<th "), count_of(page, "<th scope="));
  EXPECT_EQ(page.find("<th>"), std::string::npos);
  EXPECT_EQ(page.find("scope=\"col\"></th>"), std::string::npos);
  EXPECT_EQ(count_of(page, "<button "), count_of(page, "aria-label=\"Copy the "));
  EXPECT_EQ(count_of(page, "<svg "), count_of(page, "role=\"img\""));
}

TEST(HtmlWriterTest, WithoutGnuplotThePageSaysSoAndShowsTables) {
  const std::string page = page_without_gnuplot(sample_night());
  EXPECT_EQ(count_of(page,
                     "No plots: tables instead (no gnuplot in PATH; install "
                     "gnuplot-nox)."),
            4u);
  EXPECT_EQ(page.find("<svg"), std::string::npos);
  for (const char* const table : {"heat-map-table", "error-table", "ppc-table", "time-table"})
    EXPECT_EQ(count_of(page, std::string("<table id=\"") + table), 1u) << table;
  EXPECT_EQ(page.find("<details><summary>Worst error"), std::string::npos);
}

TEST(HtmlWriterTest, ABrokenGnuplotCostsThePlotsAndNotThePage) {
  const TemporaryFolder folder;
  const test::OnlyPath path(folder.path());
  test::put_gnuplot(folder.path(), "echo 'no fonts' >&2\nexit 1\n");
  EXPECT_EQ(count_of(html_of(sample_night()), "(gnuplot ended with exit status 1: no fonts)"), 4u);
  test::put_gnuplot(folder.path(),
                    "echo '<svg viewBox=\"0 0 1 1\"><desc></desc><script/></svg>'\n");
  const std::string page = html_of(sample_night());
  EXPECT_EQ(count_of(page, "(what it wrote is no plot that this page takes)"), 4u);
  EXPECT_EQ(count_of(page, "<script"), 1u);
}

TEST(HtmlWriterTest, TwoThousandCasesAreAllThere) {
  const JoinedRuns joined = many_cases(2000);
  const std::string page = html_of(joined);
  EXPECT_EQ(count_of(page, "<tr data-verdict=\"passed\">"), 2000u);
  for (const std::size_t i : {0u, 999u, 1999u}) {
    const std::string id = joined.runs[0].report.cases[i].id;
    EXPECT_NE(page.find("/<wbr/>" +
                        id.substr(id.find("/d=") + 1, id.find("/ragged") - id.find("/d=") - 1)),
              std::string::npos)
        << id;
  }
  EXPECT_LT(page.size(), 2'000'000u);
}

}  // namespace
}  // namespace parity
