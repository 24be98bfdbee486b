// The console report, letter for letter.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "reports/finding_sentence.hpp"
#include "reports/report.hpp"
#include "reports/wrap.hpp"
#include "tests/sample_report.hpp"

namespace parity {
namespace {

std::string written(const RunReport& report, bool colour = false) {
  std::ostringstream out;
  make_console_writer(colour)->write(report, out);
  return out.str();
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

TEST(ConsoleWriterTest, CleanRunInFull) {
  EXPECT_EQ(written(clean_report()),
            R"(PASSED: 2 of 2 cases passed, each with the same bits in every run

   adjacent pairs  2 exercised of 2 possible
   ordered pairs   2 exercised of 2 possible
   executions      6 in 2 orders, 2 process starts
   not probed      environment, rng_stream
   device          host, Test CPU, x86-64-v3, host
   suite           smoke
   seed            7
)");
}

TEST(ConsoleWriterTest, FindingInFull) {
  EXPECT_EQ(written(planted_report()),
            R"(ORDER-DEPENDENT: 1 of 2 cases passed, 1 failed; 1 finding (planted: weak_module_key)

1. A then B: B differs, relative error 1.7e4 (tolerance 1e-05); leaked:
   module_cache[paged_decode_v1<D=64,GROUP=4>], built for k=f16, used for k=f32 [confirmed]
   A               paged_decode_v1/q=f32,k=f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged
   B               paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged
   replay          harness replay paged_decode_v1/q=f32,k=f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged --repeat 20 --plant weak_module_key
   contrast        harness replay paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged --repeat 20 --plant weak_module_key
   seen            5 of 5 in fresh processes, against 0 of 6 alone
   detail          out[0,3,17]: got 1.5, want 0.25 (row error 16987.2 > 1e-05)
   role            victim
   exposed         parity::paged_decode_v1 (q=f32,k=f16,v=f32 and q=f32,k=f32,v=f32)

   adjacent pairs  2 exercised of 2 possible
   ordered pairs   2 exercised of 2 possible
   executions      6 in 2 orders, 2 process starts
   not probed      environment, rng_stream
   device          host, Test CPU, x86-64-v3, host
   suite           smoke
   seed            7
)");
}

TEST(ConsoleWriterTest, WhatAFindingLeavesUnprobedIsToldWhereItDiffersFromTheRun) {
  RunReport report = planted_report();
  report.findings[0].not_probed = {"workspace"};
  EXPECT_NE(written(report).find("   not probed      workspace\n"), std::string::npos);
}

TEST(ConsoleWriterTest, SevenOtherVictimsAreSixAndOneMore) {
  RunReport report = planted_report();
  for (int i = 0; i < 7; ++i) report.findings[0].also.push_back("victim" + std::to_string(i));
  const std::string text = written(report);
  EXPECT_NE(text.find("   other victims   victim0\n                   victim1\n"),
            std::string::npos);
  EXPECT_NE(text.find("victim5\n                   and 1 more\n"), std::string::npos);
  EXPECT_EQ(text.find("victim6"), std::string::npos);
}

TEST(ConsoleWriterTest, ColourOnlyWhenAsked) {
  EXPECT_EQ(written(planted_report(), false).find('\033'), std::string::npos);
  EXPECT_EQ(written(planted_report(), true).find("\033[1;31mORDER-DEPENDENT\033[0m: "), 0u);
}

TEST(ConsoleWriterTest, EveryExitCodeHasItsWord) {
  RunReport report = clean_report();
  const auto word = [&](int exit_code) {
    report.exit_code = exit_code;
    const std::string text = written(report);
    return text.substr(0, text.find(':'));
  };
  EXPECT_EQ(word(0), "PASSED");
  EXPECT_EQ(word(1), "FAILED");
  EXPECT_EQ(word(2), "NOTHING RAN");
  EXPECT_EQ(word(3), "ORDER-DEPENDENT");
  EXPECT_EQ(word(4), "UNSTABLE");
  EXPECT_EQ(word(5), "COULD NOT RUN");
  report.interrupted = true;
  EXPECT_EQ(word(4), "INTERRUPTED");
  EXPECT_EQ(word(5), "INTERRUPTED");
}

TEST(ConsoleWriterTest, ARunThatWasCutOffSaysHowToGoOn) {
  RunReport report = clean_report();
  EXPECT_EQ(written(report).find("resume"), std::string::npos);
  report.resume = "build/harness --resume 0123456789abcdef0123456789abcdef";
  EXPECT_NE(written(report).find("\n   resume          " + report.resume + "\n"),
            std::string::npos);
}

TEST(FindingSentenceTest, WhatAStopLeftOpenIsNotCalledChance) {
  Finding finding = leak_finding();
  finding.kind = Kind::unconfirmed;
  finding.carrier.clear();
  EXPECT_EQ(finding_sentence(finding),
            "A then B: B once differs, relative error 1.7e4 (tolerance 1e-05); not confirmed: "
            "stopped");
}

TEST(ConsoleWriterTest, WorkerErrorStandsWholeOnALineOfItsOwn) {
  RunReport report = clean_report();
  report.worker_error =
      "the worker `harness worker` ended badly after bye: signal 6 (Aborted); its log: "
      "/home/somebody/.cache/parity/runs/0123456789abcdef/worker-00001.log";
  report.exit_code = 5;
  const std::string text = written(report);
  EXPECT_EQ(text.find("WORKER ERROR: 2 of 2 cases passed"), 0u) << text;
  EXPECT_NE(text.find("\n   worker error    " + report.worker_error + "\n"), text.npos) << text;
}

TEST(ConsoleWriterTest, SameBitsAreClaimedOnlyWhenSomethingRanTwice) {
  RunReport report = clean_report();
  for (CaseSummary& summary : report.cases) summary.runs = 1;
  EXPECT_EQ(first_line(written(report)), "PASSED: 2 of 2 cases passed");
  report.cases[0].runs = 2;
  report.cases[0].distinct_bits = 2;
  EXPECT_EQ(first_line(written(report)), "PASSED: 2 of 2 cases passed");
}

TEST(ConsoleWriterTest, CaseThatDidNotPassIsNamedEvenWithoutAFinding) {
  RunReport report = clean_report();
  report.cases[0].verdict = Verdict::unsupported;
  report.cases[0].detail = "d=65 is not a multiple of 8";
  const std::string text = written(report);
  EXPECT_EQ(first_line(text), "PASSED: 1 of 2 cases passed, 1 unsupported");
  EXPECT_NE(text.find(std::string("\nunsupported ") + kHalfCase + ": d=65"), std::string::npos);
}

TEST(ConsoleWriterTest, PlannedPairsAreNotShownAsExercised) {
  RunReport report = clean_report();
  report.coverage.adjacent.exercised = 1;
  EXPECT_NE(written(report).find("adjacent pairs  1 exercised of 2 possible (2 planned)"),
            std::string::npos);
}

TEST(ConsoleWriterTest, NanAndInfinityAreWords) {
  RunReport report = planted_report();
  report.findings[0].error = std::nan("");
  EXPECT_NE(written(report).find("relative error nan (tolerance 1e-05)"), std::string::npos);
  report.findings[0].error = std::numeric_limits<double>::infinity();
  EXPECT_NE(written(report).find("relative error inf (tolerance 1e-05)"), std::string::npos);
}

TEST(FindingSentenceTest, OneCaseAloneHasNoHistory) {
  Finding finding = leak_finding();
  finding.kind = Kind::mismatch;
  finding.sequence = {finding.victim};
  finding.carrier.clear();
  EXPECT_EQ(finding_sentence(finding), "A differs, relative error 1.7e4 (tolerance 1e-05)");
}

TEST(FindingSentenceTest, RepeatedCaseKeepsItsLetter) {
  Finding finding = leak_finding();
  finding.sequence = {"x", "y", "x"};
  finding.fingerprint = Fingerprint::unwritten;
  finding.carrier.clear();
  finding.grade = Grade::unnamed;
  EXPECT_EQ(finding_sentence(finding),
            "A then B then A: A leaves output unwritten; what leaked is not known [unnamed]");
  EXPECT_EQ(sequence_labels(finding).size(), 2u);
}

TEST(FindingSentenceTest, CasesAtTheSameTimeStandWithEachOther) {
  Finding finding = leak_finding();
  finding.threads = 2;
  finding.sequence = {"a", kHalfCase, kSingleCase};
  EXPECT_TRUE(finding_sentence(finding).starts_with("A then B with C: C differs"))
      << finding_sentence(finding);
}

TEST(ConsoleWriterTest, PairsTogetherAreCountedWhereThereAreThreads) {
  RunReport report = clean_report();
  EXPECT_EQ(written(report).find("together"), std::string::npos);
  report.threads = 4;
  report.coverage.together = {.possible = 1, .planned = 1, .exercised = 1};
  EXPECT_NE(written(report).find("pairs together  1 exercised of 1 possible\n   threads         4"),
            std::string::npos)
      << written(report);
}

TEST(FindingSentenceTest, DriftInsideTheToleranceSaysSo) {
  Finding finding = leak_finding();
  finding.fingerprint = Fingerprint::bits;
  finding.error = 3e-7;
  finding.carrier.clear();
  finding.grade = Grade::unnamed;
  EXPECT_EQ(finding_sentence(finding),
            "A then B: B differs in its bits, relative error 3e-07 inside the tolerance 1e-05; "
            "what leaked is not known [unnamed]");
}

TEST(FindingSentenceTest, LongSequenceIsCutInTheMiddle) {
  Finding finding = leak_finding();
  finding.kind = Kind::unstable;
  finding.carrier.clear();
  finding.sequence.clear();
  for (int i = 0; i < 30; ++i) finding.sequence.push_back("case" + std::to_string(i));
  EXPECT_EQ(finding_sentence(finding),
            "A then B then C then D then E then F then 23 more then D1: D1 now and then differs, "
            "relative error 1.7e4 (tolerance 1e-05)");
}

TEST(FindingSentenceTest, BrittleCaseIsRightAfterItsSetter) {
  Finding finding = leak_finding();
  finding.role = Role::brittle;
  EXPECT_EQ(finding_sentence(finding).find("A then B: B is right; alone it differs, "), 0u);
}

TEST(DifferingEntriesTest, OnlyWhatDiffersIsNamed) {
  EXPECT_EQ(differing_entries("q=f32,k=f16,v=bf16", "q=f32,k=f32,v=f16"),
            (std::pair<std::string, std::string>{"k=f16,v=bf16", "k=f32,v=f16"}));
}

TEST(DifferingEntriesTest, UnlikeOrEqualListsStayWhole) {
  EXPECT_EQ(differing_entries("q=f32,k=f16", "q=f32"),
            (std::pair<std::string, std::string>{"q=f32,k=f16", "q=f32"}));
  EXPECT_EQ(differing_entries("q=f32", "q=f32"),
            (std::pair<std::string, std::string>{"q=f32", "q=f32"}));
}

TEST(ShortNumberTest, ExponentsAsAPersonWritesThem) {
  EXPECT_EQ(short_number(16987.25), "1.7e4");
  EXPECT_EQ(short_number(1e20), "1e20");
  EXPECT_EQ(short_number(1e-5), "1e-05");
  EXPECT_EQ(short_number(0.3125), "0.31");
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(WrapTest, LongWordStandsWholeOnItsOwnLine) {
  const std::string word(150, 'x');
  EXPECT_EQ(wrapped("1. ", "a " + word + " b"), "1. a\n   " + word + "\n   b\n");
}

TEST(WrapTest, LineOfExactlyThePageWidthIsNotBroken) {
  const std::string word(kPageWidth - 5, 'x');
  EXPECT_EQ(wrapped("1. ", "a " + word), "1. a " + word + "\n");
  EXPECT_EQ(wrapped("1. ", "a " + word + "x"), "1. a\n   " + word + "x\n");
}

}  // namespace
}  // namespace parity
