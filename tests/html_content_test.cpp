// What the HTML page says: the verdict's word and sentence, and each part.
#include <gtest/gtest.h>

#include "reports/html_sections.hpp"
#include "reports/reported_case.hpp"
#include "tests/html_page.hpp"
#include "tests/sample_night.hpp"

namespace parity {
namespace {

JoinedRuns ended_with(int code, bool interrupted = false, const std::string& worker_error = "") {
  JoinedRuns joined;
  joined.runs.push_back({"", clean_report()});
  joined.runs[0].report.exit_code = code;
  joined.runs[0].report.interrupted = interrupted;
  joined.runs[0].report.worker_error = worker_error;
  return joined;
}

bool holds(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(HtmlVerdictTest, EveryExitCodeHasItsWord) {
  EXPECT_EQ(verdict_word(ended_with(0)), "PASSED");
  EXPECT_EQ(verdict_word(ended_with(1)), "FAILED");
  EXPECT_EQ(verdict_word(ended_with(2)), "NOTHING RAN");
  EXPECT_EQ(verdict_word(ended_with(3)), "ORDER-DEPENDENT");
  EXPECT_EQ(verdict_word(ended_with(4)), "UNSTABLE");
  EXPECT_EQ(verdict_word(ended_with(4, true)), "INTERRUPTED");
  EXPECT_EQ(verdict_word(ended_with(5, true)), "INTERRUPTED");
  EXPECT_EQ(verdict_word(ended_with(5, false, "it died")), "WORKER ERROR");
  EXPECT_EQ(verdict_word(JoinedRuns{}), "NOTHING RAN");
  JoinedRuns step;
  step.steps.push_back({"audit", "harness audit", 127, ""});
  EXPECT_EQ(verdict_word(step), "COULD NOT RUN");
}

TEST(HtmlVerdictTest, AFailedStepIsNoPassHoweverWellTheRunsAre) {
  JoinedRuns joined = ended_with(0);
  joined.steps.push_back({"golden verify", "harness golden verify x.h5", 1, "differs"});
  EXPECT_EQ(verdict_word(joined), "FAILED");
  EXPECT_EQ(verdict_sentence(joined),
            "2 of 2 cases passed, each with the same bits in every run; step golden verify ended "
            "with exit 1");
}

TEST(HtmlVerdictTest, SentenceSumsUpAllRuns) {
  EXPECT_EQ(verdict_sentence(sample_night()),
            "8 of 12 cases passed, 2 failed, 1 unsupported, 1 crashed, in 2 runs; 3 findings; 1 of "
            "2 plants found and named, 0 false accusations; step golden verify ended with exit 1 "
            "(planted: weak_module_key)");
  EXPECT_EQ(verdict_sentence(JoinedRuns{}), "no run is here");
}

TEST(HtmlFindingTest, CardHasSequenceLeakedStateAndBothCommands) {
  const std::string body = findings_section(sample_night()).body;
  EXPECT_TRUE(holds(body, "<b class=\"letter\">A</b> <span class=\"part\">polluter</span>"));
  EXPECT_TRUE(holds(body, "<b class=\"letter last\">B</b> <span class=\"part\">victim</span>"));
  EXPECT_TRUE(holds(body, "<dt>Leaked state</dt><dd><code>module_cache</code></dd>"));
  EXPECT_TRUE(holds(body, "<dt>Built for</dt><dd><code>q=f32,<mark>k=f16</mark>,v=f32</code>"));
  EXPECT_TRUE(holds(body, "data-copy=\"finding-1-replay\""));
  EXPECT_TRUE(holds(body, "data-copy=\"finding-1-contrast\""));
  EXPECT_FALSE(holds(body, "data-copy=\"finding-3-contrast\"")) << "it has none";
  EXPECT_TRUE(holds(body, "3 of 5 in fresh processes, against 0 of 6 alone"));
  EXPECT_TRUE(holds(body, "<dt>Leaked state</dt><dd>not known</dd>"));
}

TEST(HtmlFindingTest, ABrittleCaseHasASetterAndPollutesNobody) {
  JoinedRuns joined = ended_with(3);
  Finding finding = leak_finding();
  finding.role = Role::brittle;
  joined.runs[0].report.findings = {finding};
  EXPECT_TRUE(holds(findings_section(joined).body, "<span class=\"part\">setter</span>"));
  Gnuplot gnuplot;
  EXPECT_EQ(heat_map_section(joined, gnuplot).body, "");
}

TEST(HtmlFindingTest, WhoRanBeforeWhatHappensAloneTooIsNoPolluter) {
  for (const Kind kind : {Kind::unstable, Kind::mismatch, Kind::hygiene, Kind::crash, Kind::timeout,
                          Kind::error, Kind::unconfirmed}) {
    JoinedRuns joined = ended_with(1);
    Finding finding = leak_finding();
    finding.kind = kind;
    joined.runs[0].report.findings = {finding};
    const std::string body = findings_section(joined).body;
    EXPECT_TRUE(holds(body, "<b class=\"letter\">A</b> <span class=\"part\">ran before</span>"))
        << name(kind);
    EXPECT_FALSE(holds(body, "polluter")) << name(kind);
    Gnuplot gnuplot;
    EXPECT_EQ(heat_map_section(joined, gnuplot).body, "") << name(kind);
    joined.runs[0].report.findings[0].threads = 2;
    EXPECT_TRUE(
        holds(findings_section(joined).body, "<span class=\"part\">ran with or before</span>"));
  }
}

TEST(HtmlFindingTest, AWordIsNotSaidTwice) {
  const std::string body = findings_section(sample_night()).body;
  const std::string crash = body.substr(body.find("id=\"finding-3\""));
  EXPECT_EQ(test::count_of(crash, "<span class=\"badge bad\">crash</span>"), 1u);
  EXPECT_FALSE(holds(crash, "<dt>Not probed</dt>"));
}

TEST(HtmlFindingTest, CasesThatNoFindingTellsOfAreNamed) {
  const std::string body = findings_section(sample_night()).body;
  EXPECT_TRUE(holds(body, "<table id=\"other-cases\">"));
  EXPECT_TRUE(holds(body, "gumbel_max_sample/<wbr/>logits=bf16/"));
  EXPECT_TRUE(holds(body, "no such partials"));
}

TEST(HtmlHeatMapTest, EveryPolluterMeetsItsVictimsInTheTable) {
  Gnuplot gnuplot;
  const std::string body = heat_map_section(sample_night(), gnuplot).body;
  // Both findings with several steps; of the second, two polluters with one victim. Its two others
  // fail after somebody, nobody knows after whom.
  EXPECT_EQ(test::count_of(body, "href=\"#finding-1\""), 1u);
  EXPECT_EQ(test::count_of(body, "href=\"#finding-2\""), 2u);
  EXPECT_EQ(test::count_of(body, "<td>3 of 5</td>"), 2u);
  EXPECT_EQ(test::count_of(body, "href=\"#finding-3\""), 0u) << "it happens alone";
}

TEST(HtmlErrorTest, ExactOutputsAreHeldToNoError) {
  CaseSummary summary = passed_case("rejection_sample/probs=f32/v=5/ordinary", 0);
  summary.tolerance = summary.outputs[0].tolerance = 0;
  EXPECT_EQ(of_tolerance(summary), 0.0);
  summary.error = 0.01;
  EXPECT_TRUE(std::isinf(*of_tolerance(summary)));
  summary.verdict = Verdict::crashed;
  EXPECT_EQ(of_tolerance(summary), std::nullopt);
}

TEST(HtmlErrorTest, TheWorstOutputCounts) {
  CaseSummary summary = passed_case("k/q=f32/d=1/r", 1e-6);
  EXPECT_DOUBLE_EQ(*of_tolerance(summary), 0.1);
  summary.outputs.push_back({.name = "lse", .error = 8e-6, .tolerance = 1e-5, .of_bound = 0});
  EXPECT_DOUBLE_EQ(*of_tolerance(summary), 0.8);
  summary.outputs.push_back({.name = "x", .error = std::nan(""), .tolerance = 1e-5, .of_bound = 0});
  EXPECT_TRUE(std::isnan(*of_tolerance(summary))) << "NaN is worse than all else";
}

TEST(HtmlErrorTest, NanIsTheWorstErrorWhereverItStands) {
  for (const bool first : {true, false}) {
    JoinedRuns joined = ended_with(1);
    std::vector<CaseSummary>& cases = joined.runs[0].report.cases;
    cases = {passed_case("k/q=f32/d=1,ppc=1/a", 2e-6), passed_case("k/q=f32/d=2,ppc=1/b", 4e-6)};
    cases[first ? 0 : 1].error = std::nan("");
    const std::string worst = first ? "d=1,ppc=1/<wbr/>a" : "d=2,ppc=1/<wbr/>b";
    EXPECT_TRUE(holds(html_headline(joined), "<dd><b>nan</b> <span>times the tolerance, k</span>"));
    Gnuplot gnuplot;
    for (const std::string& body :
         {errors_section(joined, gnuplot).body, ppc_section(joined, gnuplot).body}) {
      EXPECT_TRUE(holds(body, "<td class=\"number\">nan</td>")) << body;
      EXPECT_TRUE(holds(body, worst)) << body;
    }
    cases[0].outputs = {{.name = "out", .error = 0, .tolerance = 1e-5, .of_bound = 0.5},
                        {.name = "lse", .error = 0, .tolerance = 1e-5, .of_bound = 0.25}};
    cases[0].outputs[first ? 0 : 1].of_bound = std::nan("");
    cases[0].error = 9;
    cases.pop_back();
    EXPECT_TRUE(holds(errors_section(joined, gnuplot).body,
                      "<td class=\"number\">9e5</td><td class=\"number\">nan</td>"))
        << errors_section(joined, gnuplot).body;
  }
}

TEST(HtmlErrorTest, PpcStandsInOrderOfItsValuesThenWords) {
  Gnuplot gnuplot;
  const std::string body = ppc_section(sample_night(), gnuplot).body;
  std::size_t before = 0;
  for (const char* const ppc : {">1<", ">2<", ">16<", ">100000<", ">auto<"}) {
    const std::size_t at = body.find(ppc, body.find("<td class=\"number\"", before));
    EXPECT_NE(at, std::string::npos) << ppc;
    before = at;
  }
  EXPECT_EQ(constant_of("k/q=f32/d=64,ppc=4/r", "ppc"), "4");
  EXPECT_EQ(constant_of("k/q=f32/d=64,xppc=4/r", "ppc"), "");
  EXPECT_EQ(constant_of("no id", "ppc"), "");
}

TEST(HtmlTimesTest, WithoutTimesThePageSaysHowToGiveThem) {
  JoinedRuns joined = sample_night();
  Gnuplot gnuplot;
  EXPECT_TRUE(holds(times_section(joined, gnuplot).body, "18.25 us"));
  EXPECT_TRUE(holds(times_section(joined, gnuplot).body, "<td class=\"number\">not known</td>"));
  joined.times.clear();
  EXPECT_TRUE(holds(times_section(joined, gnuplot).body,
                    "<code>harness report run.json bench.json --html page.html</code>"));
}

TEST(HtmlTimesTest, TimesOfTwoDevicesAreToldApart) {
  JoinedRuns joined = sample_night();
  joined.times[1] = joined.times[0];
  Gnuplot gnuplot;
  const std::string one = times_section(joined, gnuplot).body;
  EXPECT_EQ(test::count_of(one, "<td>cuda, Test GPU</td>"), 2u);
  joined.times[1].backend = "host";
  joined.times[1].device = "";
  const std::string two = times_section(joined, gnuplot).body;
  EXPECT_TRUE(holds(two, "<td>host</td>"));
  joined.times[0].backend = joined.times[0].device = "";
  EXPECT_TRUE(holds(times_section(joined, gnuplot).body, "<td>not told</td>"));
  if (!test::have_program("gnuplot")) GTEST_SKIP() << "no gnuplot; package gnuplot-nox";
  EXPECT_TRUE(holds(one, ">paged_decode_v2 q=bf16,k=bf16,v=bf16</text>")) << one;
  EXPECT_TRUE(holds(two, ">paged_decode_v2 q=bf16,k=bf16,v=bf16 host</text>")) << two;
  EXPECT_TRUE(holds(two, ">paged_decode_v2 q=bf16,k=bf16,v=bf16 cuda, Test GPU</text>")) << two;
}

TEST(HtmlRunsTest, WhatIsNotToldIsNotCalledNone) {
  JoinedRuns joined = ended_with(0);
  joined.runs[0].report.not_probed.clear();
  EXPECT_TRUE(
      holds(coverage_section(joined).body, "<th scope=\"row\">Not probed</th><td>not told"));
  joined.runs[0].report.findings = {leak_finding()};
  EXPECT_TRUE(holds(coverage_section(joined).body, "<td><code>environment</code>"));
}

TEST(HtmlRunsTest, AFewPairsOfManyAreNotZeroPercent) {
  JoinedRuns joined = ended_with(0);
  joined.runs[0].report.coverage.adjacent = {.possible = 100000, .planned = 10, .exercised = 10};
  EXPECT_TRUE(
      holds(coverage_section(joined).body, "10 of 10 planned, 100000 possible (less than 1 %)"));
}

TEST(HtmlSelftestTest, MissedPlantsAndFalseAccusationsAreTold) {
  JoinedRuns joined = sample_night();
  joined.selftests[0].report.rows[0].found = false;
  const HtmlSection section = selftest_section(joined);
  EXPECT_EQ(section.count, "2 wrong");
  EXPECT_TRUE(holds(section.body, "<span class=\"badge bad\">missed</span>"));
  EXPECT_TRUE(holds(section.body, "<span class=\"badge bad\">falsely accused</span>"));
  EXPECT_TRUE(holds(section.body, "no finding at all"));
}

}  // namespace
}  // namespace parity
