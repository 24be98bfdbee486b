// The job summary to the letter; words from anywhere stay words, and it never grows too long.
#include <gtest/gtest.h>

#include <sstream>

#include "reports/markdown_text.hpp"
#include "reports/report.hpp"
#include "tests/written_reports.hpp"

namespace parity {
namespace {

std::string markdown(const JoinedRuns& joined) {
  std::ostringstream out;
  make_markdown_writer()->write(joined, out);
  return out.str();
}

JoinedRuns joined_of(const RunReport& report) {
  JoinedRuns joined;
  joined.runs = {{"run.json", report}};
  return joined;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(MarkdownWriterTest, PlantedRunInFull) {
  JoinedRuns joined = joined_of(planted_report());
  joined.commit = "9ff470d";
  joined.runs[0].report.build = "0123abcd";
  EXPECT_EQ(markdown(joined), R"md(# parity: ORDER-DEPENDENT

1 of 2 cases passed; findings: 1. Exit code 3. Commit `9ff470d`.

| run | backend | device | cases passed | findings | exit code |
| --- | --- | --- | --- | --- | --- |
| `smoke`, 2 orders, planted: `weak_module_key` (`run.json`) | `host` | Test CPU | 1 of 2 | 1 | 3 (order-dependent) |

## Findings

### 1. A then B: B differs, relative error 1.7e4 (tolerance 1e-05); leaked: module\_cache\[paged\_decode\_v1&lt;D=64,GROUP=4&gt;\], built for k=f16, used for k=f32 \[confirmed\]

- A: `paged_decode_v1/q=f32,k=f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged`
- B: `paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged`
- `order_dependent`, `mismatch`, `victim`: seen 5 of 5 in fresh processes, against 0 of 6 alone
- out\[0,3,17\]: got 1.5, want 0.25 (row error 16987.2 &gt; 1e-05)
- exposed: `parity::paged_decode_v1 (q=f32,k=f16,v=f32 and q=f32,k=f32,v=f32)`

Replay:

```sh
harness replay paged_decode_v1/q=f32,k=f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged --repeat 20 --plant weak_module_key
```

Contrast:

```sh
harness replay paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged --repeat 20 --plant weak_module_key
```

## Coverage

| run | adjacent pairs | ordered pairs | pairs together | executions | process starts | quarantined |
| --- | --- | --- | --- | --- | --- | --- |
| `smoke`, 2 orders, planted: `weak_module_key` (`run.json`) | 2 of 2 | 2 of 2 |  | 6 | 2 |  |

## Environment

| run | device | arch | driver | seed | build | noisy | not probed |
| --- | --- | --- | --- | --- | --- | --- | --- |
| `smoke`, 2 orders, planted: `weak_module_key` (`run.json`) | Test CPU | `x86-64-v3` | `host` | 7 | `0123abcd` |  | `environment`, `rng_stream` |

)md");
}

TEST(MarkdownWriterTest, NightAndSelftestInFull) {
  JoinedRuns joined;
  joined.selftests = {{"s.json", selftest()}};
  joined.steps = {{"audit", "harness audit", 0, "62 modules"},
                  {"golden verify", "harness golden verify a|b.h5", 1, "2 of 64 cases differ"}};
  joined.times = {{.kernel = "paged_decode_v2",
                   .dtypes = "q=bf16,k=bf16,v=bf16",
                   .benchmark = "paged_decode_v2/rows:8",
                   .nanoseconds = 2500,
                   .of_ceiling = 0.5,
                   .backend = "cuda",
                   .device = "Test GPU"}};
  EXPECT_EQ(markdown(joined), R"md(# parity: WORKER ERROR

Exit code 5.

| step | exit code | said | command |
| --- | --- | --- | --- |
| audit | 0 | 62 modules | `harness audit` |
| golden verify | 1 | 2 of 64 cases differ | `harness golden verify a\|b.h5` |

Selftest on `host`: 1 of 1 plants found, 0 exactly named; false accusations: 0; exit code 5.

- `race_90`: another carrier, again: `harness run --plant race_90`
- `race_90`: it died, again: `harness run --plant race_90`

## Times

| kernel | dtypes | bench | backend | device | µs | of the ceiling |
| --- | --- | --- | --- | --- | --- | --- |
| `paged_decode_v2` | `q=bf16,k=bf16,v=bf16` | `paged_decode_v2/rows:8` | `cuda` | Test GPU | 2.5 | 50 % |

)md");
}

TEST(MarkdownWriterTest, EveryExitCodeHasItsWord) {
  const auto heading = [](int code) {
    RunReport report = clean_report();
    report.exit_code = code;
    const std::string text = markdown(joined_of(report));
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(heading(0), "# parity: PASSED");
  EXPECT_EQ(heading(1), "# parity: FAILED");
  EXPECT_EQ(heading(3), "# parity: ORDER-DEPENDENT");
  EXPECT_EQ(heading(4), "# parity: UNSTABLE");
  EXPECT_EQ(heading(5), "# parity: COULD NOT RUN");
  EXPECT_TRUE(markdown(JoinedRuns{}).starts_with("# parity: NOTHING RAN\n"));
}

TEST(MarkdownWriterTest, WhatDidNotEndWellIsTold) {
  const std::string text = markdown(joined_of(rich_report()));
  EXPECT_TRUE(
      holds(text, "Worker error: the worker wrote \"&lt;&amp;&gt;\"\\\\x0a\\\\x09\\\\x01 on "));
  EXPECT_TRUE(holds(text, "Interrupted: the rest did not run.\n"));
  EXPECT_TRUE(holds(text, "Go on:\n\n```sh\nharness --resume 0123\n```\n"));
  RunReport report = clean_report();
  report.cases[0].verdict = Verdict::untrusted;
  report.cases[0].detail = "all zero";
  EXPECT_TRUE(holds(markdown(joined_of(report)),
                    "\n- untrusted `" + std::string(kHalfCase) + "`: all zero\n"));
}

TEST(MarkdownWriterTest, WordsStayWords) {
  EXPECT_EQ(markdown_text("a|b*c_d`e[f](g)<h>&\\~$"),
            "a|b\\*c\\_d\\`e\\[f\\](g)&lt;h&gt;&amp;\\\\\\~\\$");
  EXPECT_EQ(markdown_text("a\nb"), "a\\\\x0ab");
  EXPECT_EQ(markdown_code("a|b"), "`a|b`");
  EXPECT_EQ(markdown_code("a`b``c"), "```a`b``c```");
  EXPECT_EQ(markdown_code("`a"), "`` `a ``");
  EXPECT_EQ(markdown_code(""), "");
  EXPECT_EQ(markdown_command("a ```\nb\x1b"), "````sh\na ```\nb\\x1b\n````\n");
}

TEST(MarkdownWriterTest, BarsAreEscapedInCellsAlone) {
  EXPECT_EQ(markdown_row({markdown_text("a|b"), markdown_code("c|d"), "e"}),
            "| a\\|b | `c\\|d` | e |\n");
}

TEST(MarkdownWriterTest, TheFirstWordBeginsNoListAndNoHeading) {
  for (const char* const mark : {"#", "##", "-", "---", "+", "- - -"})
    EXPECT_EQ(markdown_text(mark), std::string("\\") + mark);
  EXPECT_EQ(markdown_text("## a"), "\\## a");
  EXPECT_EQ(markdown_text("- a"), "\\- a");
  EXPECT_EQ(markdown_text("+ a"), "\\+ a");
  EXPECT_EQ(markdown_text("1. a"), "1\\. a");
  EXPECT_EQ(markdown_text("12) a"), "12\\) a");
  EXPECT_EQ(markdown_text("1."), "1\\.");
  EXPECT_EQ(markdown_text("     # a"), "\\# a") << "five blanks would be a block of code";
  EXPECT_EQ(markdown_text("a #"), "a \\#") << "a heading ends there";
  for (const char* const plain : {"-1.5", "+inf", "1.5 ms", "a - b", "a + b", "64 of 64", "a#b"})
    EXPECT_EQ(markdown_text(plain), plain);
}

TEST(MarkdownWriterTest, WordsAreNoLinksFacesAndPeople) {
  EXPECT_EQ(markdown_text("at https://a.b/c"), "at https:<!-- -->//a.b/c");
  EXPECT_EQ(markdown_text("http://a ftp://b"), "http:<!-- -->//a ftp:<!-- -->//b");
  EXPECT_EQ(markdown_text("WWW.a.b"), "WWW<!-- -->.a.b");
  EXPECT_EQ(markdown_text("mailto:a@b.c"), "mailto:a@<!-- -->b.c");
  EXPECT_EQ(markdown_text("@name"), "@<!-- -->name");
  EXPECT_EQ(markdown_text("see #12"), "see #<!-- -->12");
  EXPECT_EQ(markdown_text("a:bug:+1:"), "a:<!-- -->bug:<!-- -->+1:");
  for (const char* const plain : {"parity::paged", "seen: a: b", "a @ b", "a:b", "12:30", "wwww."})
    EXPECT_EQ(markdown_text(plain), plain);
}

TEST(MarkdownWriterTest, ACutNeverSplitsACharacter) {
  EXPECT_EQ(markdown_text("ab\u00fc", 3), "ab ...");
  EXPECT_EQ(markdown_text("ab\u00fc", 4), "ab\u00fc");
  EXPECT_EQ(markdown_code("ab\u00fcd", 4), "`ab\u00fc ...`");
}

TEST(MarkdownWriterTest, ACommandIsWholeOrNotThere) {
  EXPECT_EQ(markdown_command("abcd", 4), "```sh\nabcd\n```\n");
  EXPECT_EQ(markdown_command("abcde", 4),
            "(a command of 5 bytes, too long for this page: the JSON report holds it)\n");
}

TEST(MarkdownWriterTest, CommandsOfTablesAndListsAreWholeOrNotThere) {
  JoinedRuns joined;
  joined.selftests = {{"s.json", selftest()}};
  for (const std::size_t size : {1500u, 5000u}) {
    const std::string command = "harness '" + std::string(size, 'x') + "|'";
    joined.steps = {{"smoke", command, 3, ""}};
    joined.selftests[0].report.rows[1].command = command;
    const std::string text = markdown(joined);
    const std::string words = "(a command of " + std::to_string(command.size()) +
                              " bytes, too long for this page: the JSON report holds it)";
    const std::string cell = "harness '" + std::string(size, 'x') + "\\|'";
    EXPECT_TRUE(holds(text, " | " + (size < 2000 ? "`" + cell + "`" : words) + " |\n")) << text;
    EXPECT_TRUE(holds(text, "again: " + (size < 2000 ? "`" + command + "`" : words) + "\n"));
  }
}

TEST(MarkdownWriterTest, BelowAMebibyteWhateverItHasToSay) {
  const std::string long_word(3000, '<');
  RunReport head = clean_report();
  head.cases.clear();
  head.suite = head.device_name = head.device_driver = long_word;
  head.plants = head.quarantined = std::vector<std::string>(10, long_word);
  RunReport report = head;
  report.cases.assign(100, {.id = long_word, .verdict = Verdict::failed, .detail = long_word});
  Finding finding = leak_finding();
  finding.detail = finding.carrier = long_word;
  finding.also = finding.exposed = std::vector<std::string>(10, long_word);
  finding.replay = std::string(20000, '\xff');
  report.findings.assign(100, finding);
  JoinedRuns joined = joined_of(report);
  joined.runs.resize(60, {long_word, head});
  joined.steps.assign(60, {long_word, long_word, 1, long_word});
  const std::string text = markdown(joined);
  EXPECT_LT(text.size(), std::size_t{1} << 20);
  EXPECT_TRUE(holds(text, "\nand 9")) << "findings";
  EXPECT_TRUE(holds(text, "\nand 10 more\n")) << "steps";
}

TEST(MarkdownWriterTest, FindingsThatAreLeftOutAreCounted) {
  RunReport report = planted_report();
  report.findings.resize(100, report.findings[0]);
  const std::string text = markdown(joined_of(report));
  EXPECT_TRUE(holds(text, "### 30. "));
  EXPECT_FALSE(holds(text, "### 31. "));
  EXPECT_TRUE(holds(text, "\nand 70 more\n"));
}

}  // namespace
}  // namespace parity
