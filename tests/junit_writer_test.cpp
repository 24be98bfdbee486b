// JUnit's XML to the letter, and that nothing in it passes that did not.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "reports/report.hpp"
#include "reports/xml_element.hpp"
#include "tests/written_reports.hpp"

namespace parity {
namespace {

std::string junit(const JoinedRuns& joined) {
  std::ostringstream out;
  make_junit_writer()->write(joined, out);
  return out.str();
}

std::string junit(const RunReport& report) {
  JoinedRuns joined;
  joined.runs = {{"run.json", report}};
  return junit(joined);
}

/// The test case that `name` names, to its end.
std::string test_case(const std::string& xml, const std::string& name) {
  const std::size_t begin = xml.find("name=\"" + name + "\"");
  if (begin == std::string::npos) return "";
  const std::size_t end = xml.find("<testcase ", begin);
  return xml.substr(begin, end == std::string::npos ? end : end - begin);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class JunitWriterTest : public testing::Test {
 protected:
  /// What xmllint has against it; "" where it is valid.
  std::string fault(const std::string& xml) const {
    const std::string path = (folder_.path() / "junit.xml").string();
    std::ofstream(path, std::ios::binary | std::ios::trunc) << xml;
    const std::string said = path + ".said";
    const int status =
        std::system(("xmllint --noout --schema '" PARITY_SOURCE_DIR "/tests/junit.xsd' '" + path +
                     "' >'" + said + "' 2>&1")
                        .c_str());
    std::ostringstream text;
    text << std::ifstream(said).rdbuf();
    return status == 0 ? "" : text.str();
  }

  TemporaryFolder folder_;
};

JoinedRuns everything() {
  JoinedRuns joined;
  joined.commit = "9ff470d";
  joined.runs = {{"a.json", clean_report()}, {"b.json", clean_report()}, {"c.json", rich_report()}};
  joined.selftests = {{"s.json", selftest()}};
  joined.steps = {{"audit", "harness audit", 0, "62 modules"},
                  {"golden verify", "harness golden verify g.h5", 1, "2 of 64 cases differ"}};
  return joined;
}

TEST_F(JunitWriterTest, CleanRunInFull) {
  EXPECT_EQ(junit(clean_report()), R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="parity" tests="2" failures="0" errors="0">
  <testsuite name="smoke on host in 2 orders" tests="2" failures="0" errors="0" skipped="0">
    <properties>
      <property name="backend" value="host"/>
      <property name="device" value="Test CPU"/>
      <property name="arch" value="x86-64-v3"/>
      <property name="driver" value="host"/>
      <property name="suite" value="smoke"/>
      <property name="seed" value="7"/>
      <property name="threads" value="1"/>
      <property name="exit_code" value="0"/>
      <property name="orders" value="2"/>
      <property name="executions" value="6"/>
      <property name="process_starts" value="2"/>
      <property name="adjacent_pairs.exercised" value="2"/>
      <property name="adjacent_pairs.planned" value="2"/>
      <property name="adjacent_pairs.possible" value="2"/>
      <property name="ordered_pairs.exercised" value="2"/>
      <property name="ordered_pairs.planned" value="2"/>
      <property name="ordered_pairs.possible" value="2"/>
      <property name="not_probed" value="environment, rng_stream"/>
    </properties>
    <testcase classname="paged_decode_v1" name="paged_decode_v1/q=f32,k=f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged"/>
    <testcase classname="paged_decode_v1" name="paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged"/>
  </testsuite>
</testsuites>
)xml");
}

TEST_F(JunitWriterTest, FindingInFull) {
  const std::string xml = junit(planted_report());
  EXPECT_TRUE(holds(xml,
                    "<testsuite name=\"smoke on host in 2 orders, planted: weak_module_key\" "
                    "tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">"));
  EXPECT_EQ(test_case(xml, kSingleCase),
            R"xml(name="paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged">
      <failure type="order_dependent/mismatch" message="A then B: B differs, relative error 1.7e4 (tolerance 1e-05); leaked: module_cache[paged_decode_v1&lt;D=64,GROUP=4&gt;], built for k=f16, used for k=f32 [confirmed]">
A then B: B differs, relative error 1.7e4 (tolerance 1e-05); leaked: module_cache[paged_decode_v1&lt;D=64,GROUP=4&gt;], built for k=f16, used for k=f32 [confirmed]
A               paged_decode_v1/q=f32,k=f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged
B               paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged
kind            order_dependent
fingerprint     mismatch
seen            5 of 5 in fresh processes, against 0 of 6 alone
detail          out[0,3,17]: got 1.5, want 0.25 (row error 16987.2 &gt; 1e-05)
role            victim
victim          paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged
replay          harness replay paged_decode_v1/q=f32,k=f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged --repeat 20 --plant weak_module_key
contrast        harness replay paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged --repeat 20 --plant weak_module_key
exposed         parity::paged_decode_v1 (q=f32,k=f16,v=f32 and q=f32,k=f32,v=f32)
</failure>
    </testcase>
  </testsuite>
</testsuites>
)xml");
}

TEST_F(JunitWriterTest, EveryVerdictHasItsWord) {
  RunReport report = clean_report();
  report.cases.clear();
  for (int verdict = 0; verdict <= static_cast<int>(Verdict::not_run); ++verdict)
    report.cases.push_back({.id = "k/" + std::to_string(verdict),
                            .verdict = static_cast<Verdict>(verdict),
                            .detail = "why"});
  const std::string xml = junit(report);
  const auto says = [&](Verdict verdict, const std::string& element) {
    const std::string name = "k/" + std::to_string(static_cast<int>(verdict));
    EXPECT_TRUE(test_case(xml, name).starts_with("name=\"" + name + "\">\n      " + element))
        << test_case(xml, name);
  };
  EXPECT_TRUE(test_case(xml, "k/0").starts_with("name=\"k/0\"/>"));
  says(Verdict::failed, R"(<failure type="failed" message="why"/>)");
  says(Verdict::untrusted, R"(<failure type="untrusted" message="why"/>)");
  says(Verdict::unsupported, R"(<skipped message="unsupported: why"/>)");
  says(Verdict::error, R"(<error type="error" message="why"/>)");
  says(Verdict::crashed, R"(<error type="crashed" message="why"/>)");
  says(Verdict::timed_out, R"(<error type="timed_out" message="why"/>)");
  says(Verdict::not_run, R"(<skipped message="not_run: why"/>)");
  EXPECT_TRUE(holds(xml, R"(tests="8" failures="2" errors="3" skipped="2">)")) << xml;
}

TEST_F(JunitWriterTest, AVictimWhoseVerdictPassedFails) {
  RunReport report = planted_report();
  report.findings[0].also = {kHalfCase, "kernel/nobody_lists"};
  report.findings[0].fingerprint = Fingerprint::bits;
  for (CaseSummary& summary : report.cases) summary.verdict = Verdict::passed;
  const std::string xml = junit(report);
  for (const std::string id : {kHalfCase, kSingleCase, "kernel/nobody_lists"})
    EXPECT_TRUE(holds(test_case(xml, id), "<failure type=\"order_dependent/bits\"")) << id;
  EXPECT_TRUE(holds(xml, R"(tests="3" failures="3" errors="0" skipped="0">)")) << xml;
  constexpr const char* kNotItsOwn = "is among the other victims of ";
  EXPECT_TRUE(holds(test_case(xml, kHalfCase), kNotItsOwn));
  EXPECT_FALSE(holds(test_case(xml, kSingleCase), kNotItsOwn));
}

TEST_F(JunitWriterTest, KindAndFingerprintAreToldApart) {
  RunReport report = planted_report();
  report.findings.push_back(report.findings[0]);
  report.findings[0].fingerprint = Fingerprint::crash;
  report.findings[1].kind = Kind::mismatch;
  const std::string test = test_case(junit(report), kSingleCase);
  EXPECT_TRUE(holds(test, "<error type=\"order_dependent/crash\" message=\"A then B: B crashes;"));
  EXPECT_TRUE(holds(test, "[confirmed] (and 1 more)\">"));
  EXPECT_TRUE(holds(test, "\nkind            mismatch\nfingerprint     mismatch\n")) << test;
}

TEST_F(JunitWriterTest, WhatIsOfNoCaseIsNoPass) {
  RunReport dead = clean_report();
  dead.worker_error = "the worker exited with 1 at its end";
  dead.exit_code = 5;
  EXPECT_TRUE(
      holds(test_case(junit(dead), "run"),
            R"(<error type="worker_error" message="the worker exited with 1 at its end"/>)"));
  RunReport stopped = clean_report();
  stopped.interrupted = true;
  stopped.resume = "harness --resume 0123";
  const std::string test = test_case(junit(stopped), "run");
  EXPECT_TRUE(holds(test, "<error type=\"interrupted\" message=\"stopped before the plan's end: "));
  EXPECT_TRUE(holds(test, "resume          harness --resume 0123\n")) << test;
  RunReport nothing = clean_report();
  nothing.cases.clear();
  nothing.exit_code = 2;
  EXPECT_TRUE(holds(junit(nothing), R"(tests="1" failures="0" errors="1" skipped="0">)"));
  EXPECT_TRUE(holds(test_case(junit(nothing), "run"), "ended with exit code 2"));
  EXPECT_EQ(test_case(junit(planted_report()), "run"), "") << "its cases say it";
  EXPECT_TRUE(holds(junit(JoinedRuns{}), R"(tests="1" failures="0" errors="1" skipped="0">)"));
}

TEST_F(JunitWriterTest, SelftestAndNightAreSuites) {
  JoinedRuns joined = everything();
  joined.runs.clear();
  const std::string xml = junit(joined);
  const std::size_t begin = xml.find("  <testsuite ");
  EXPECT_EQ(
      xml.substr(begin),
      R"xml(  <testsuite name="selftest on host" tests="3" failures="0" errors="1" skipped="1">
    <properties>
      <property name="backend" value="host"/>
      <property name="device" value="Test CPU"/>
      <property name="commit" value="9ff470d"/>
      <property name="exit_code" value="5"/>
    </properties>
    <testcase classname="selftest.clean" name="no plant"/>
    <testcase classname="selftest.race" name="race_90">
      <error type="worker_error" message="it died">
again           harness run --plant race_90
</error>
    </testcase>
    <testcase classname="selftest.last-writer" name="last_error_left_over">
      <skipped message="not on this backend"/>
    </testcase>
  </testsuite>
  <testsuite name="night" tests="2" failures="1" errors="0" skipped="0">
    <properties>
      <property name="commit" value="9ff470d"/>
    </properties>
    <testcase classname="night" name="audit"/>
    <testcase classname="night" name="golden verify">
      <failure type="exit_code/1" message="exit code 1: 2 of 64 cases differ">
said            2 of 64 cases differ
command         harness golden verify g.h5
</failure>
    </testcase>
  </testsuite>
</testsuites>
)xml");
}

TEST_F(JunitWriterTest, SelftestRowsThatAreNotAsTheyMustBeFail) {
  SelftestReport report = selftest();
  report.rows[0].found = false;
  report.rows[1].worker_error.clear();
  report.interrupted = true;
  JoinedRuns joined;
  joined.selftests = {{"", report}};
  const std::string xml = junit(joined);
  EXPECT_TRUE(holds(test_case(xml, "no plant"), "<failure type=\"falsely_accused\""));
  EXPECT_TRUE(holds(test_case(xml, "race_90"),
                    R"(<failure type="named_wrongly" message="another carrier">)"));
  EXPECT_TRUE(holds(test_case(xml, "selftest"), "<error type=\"interrupted\""));
}

TEST_F(JunitWriterTest, ValidAgainstTheSchema) {
  for (const std::string& xml : {junit(everything()), junit(JoinedRuns{}), junit(clean_report()),
                                 junit(planted_report()), junit(rich_report())})
    EXPECT_EQ(fault(xml), "") << xml;
}

TEST_F(JunitWriterTest, TheSchemaSeesWhatIsWrong) {
  const std::string xml = junit(planted_report());
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string other = xml;
    other.replace(other.find(from), from.size(), to);
    return other;
  };
  EXPECT_NE(fault(replaced(" failures=\"1\"", " failures=\"one\"")), "");
  EXPECT_NE(fault(replaced(" skipped=\"0\"", "")), "");
  EXPECT_NE(fault(replaced("classname=", "class=")), "");
  EXPECT_NE(fault(replaced("<failure ", "<defect ")), "");
  EXPECT_NE(fault(replaced("&lt;", "<")), "");
}

TEST_F(JunitWriterTest, WordsThatXmlForbidsAreShown) {
  RunReport report = planted_report();
  report.findings[0].detail = std::string("\x1b[31m \xff \0 ]]> \xef\xbf\xbf", 17);
  report.findings[0].replay = "run 'a&b' \"c\"\nd\re";
  report.cases[0].id = "k/\x02<\"'&>";
  const std::string xml = junit(report);
  EXPECT_TRUE(holds(xml, "detail          \\x1b[31m \\xff \\x00 ]]&gt; \xef\xbf\xbd\n")) << xml;
  EXPECT_TRUE(holds(xml, "replay          run 'a&amp;b' &quot;c&quot;\nd\\x0de\n")) << xml;
  EXPECT_TRUE(holds(xml, "name=\"k/\\x02&lt;&quot;'&amp;&gt;\"")) << xml;
  EXPECT_EQ(fault(xml), "");
}

TEST_F(JunitWriterTest, SuitesOfOneNameAreNumbered) {
  const std::string xml = junit(everything());
  EXPECT_TRUE(holds(xml, "<testsuite name=\"smoke on host in 2 orders\" "));
  EXPECT_TRUE(holds(xml, "<testsuite name=\"smoke on host in 2 orders (2)\" "));
}

}  // namespace
}  // namespace parity
