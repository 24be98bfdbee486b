// JUnit's XML, which every CI page reads: a suite a run, one for each selftest, one for the night.
// No time and no host stand in it: the report knows neither.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "reports/finding_sentence.hpp"
#include "reports/junit_run.hpp"
#include "reports/report.hpp"
#include "reports/selftest_writer.hpp"
#include "reports/xml_element.hpp"

namespace parity {
namespace {

struct Counts {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
};

Counts counts_of(const XmlElement& suite) {
  Counts counts;
  for (const XmlElement& test : suite.children) {
    if (test.name != "testcase") continue;
    ++counts.tests;
    if (test.children.empty()) continue;
    const std::string& word = test.children.front().name;
    ++(word == "failure" ? counts.failures : word == "error" ? counts.errors : counts.skipped);
  }
  return counts;
}

/// "smoke on host in 64 orders, planted: weak_module_key"
std::string suite_name(const RunReport& report) {
  std::string name = fmt::format("{} on {} in {}", report.suite, report.backend,
                                 plural(report.coverage.orders, "order"));
  if (report.threads > 1) name += fmt::format(", {} threads", report.threads);
  if (!report.plants.empty()) name += fmt::format(", planted: {}", fmt::join(report.plants, ", "));
  return name;
}

XmlElement selftest_row(const SelftestRow& row) {
  XmlElement test = junit_case("selftest." + row.leak_class, row.name);
  const std::string again = fmt::format("\nagain           {}\n", row.command);
  if (!row.applicable)
    test.add(junit_word("skipped", "", "not on this backend", ""));
  else if (!row.worker_error.empty())
    test.add(junit_word("error", "worker_error", row.worker_error, again));
  else if (!right(row)) {
    std::string type(result_word(row));
    std::ranges::replace(type, ' ', '_');
    test.add(junit_word("failure", type, row.missing.empty() ? type : row.missing, again));
  }
  return test;
}

XmlElement selftest_suite(const SelftestReport& report, const std::string& commit) {
  XmlElement suite{"testsuite", {{"name", "selftest on " + report.backend}}};
  for (const SelftestRow& row : report.rows) suite.add(selftest_row(row));
  if (report.interrupted)
    suite.add(junit_case("harness", "selftest"))
        .add(junit_word("error", "interrupted", "stopped: the rest did not run", ""));
  add_junit_properties(suite, {{"backend", report.backend},
                               {"device", report.device_name},
                               {"commit", commit},
                               {"exit_code", fmt::format("{}", exit_code(report))}});
  return suite;
}

XmlElement night_suite(const std::vector<ReportedStep>& steps, const std::string& commit) {
  XmlElement suite{"testsuite", {{"name", "night"}}};
  for (const ReportedStep& step : steps) {
    XmlElement& test = suite.add(junit_case("night", step.name));
    if (step.exit_code == 0) continue;
    const std::string code = fmt::format("exit code {}", step.exit_code);
    test.add(junit_word(
        "failure", fmt::format("exit_code/{}", step.exit_code),
        step.said.empty() ? code : fmt::format("{}: {}", code, step.said),
        fmt::format("\nsaid            {}\ncommand         {}\n", step.said, step.command)));
  }
  add_junit_properties(suite, {{"commit", commit}});
  return suite;
}

std::vector<XmlElement> suites_of(const JoinedRuns& joined) {
  std::vector<XmlElement> suites;
  for (const ReportedRun& run : joined.runs)
    suites.push_back(junit_run(run.report, suite_name(run.report), joined.commit));
  for (const ReportedSelftest& selftest : joined.selftests)
    suites.push_back(selftest_suite(selftest.report, joined.commit));
  if (!joined.steps.empty()) suites.push_back(night_suite(joined.steps, joined.commit));
  if (!suites.empty()) return suites;
  // A page of tests without one is green.
  XmlElement& nothing = suites.emplace_back(XmlElement{"testsuite", {{"name", "report"}}});
  nothing.add(junit_case("harness", "report"))
      .add(junit_word("error", "nothing", "no run, selftest or step to judge by", ""));
  return suites;
}

/// Pages join suites of one name: from the second on they are numbered.
void number_equal_names(std::vector<XmlElement>& suites) {
  std::map<std::string, int> seen;
  for (XmlElement& suite : suites) {
    std::string& name = suite.attributes.front().second;
    if (const int nth = ++seen[name]; nth > 1) name += fmt::format(" ({})", nth);
  }
}

void set_counts(XmlElement& element, const Counts& counts) {
  element.set("tests", fmt::format("{}", counts.tests));
  element.set("failures", fmt::format("{}", counts.failures));
  element.set("errors", fmt::format("{}", counts.errors));
}

class JunitWriter final : public ReportWriter {
 public:
  void write(const JoinedRuns& joined, std::ostream& out) const override {
    std::vector<XmlElement> suites = suites_of(joined);
    number_equal_names(suites);
    Counts all;
    for (XmlElement& suite : suites) {
      const Counts counts = counts_of(suite);
      set_counts(suite, counts);
      suite.set("skipped", fmt::format("{}", counts.skipped));
      all.tests += counts.tests;
      all.failures += counts.failures;
      all.errors += counts.errors;
    }
    XmlElement root{"testsuites", {{"name", "parity"}}};
    set_counts(root, all);
    root.children = std::move(suites);
    out << xml_document(root);
  }
};

}  // namespace

std::unique_ptr<ReportWriter> make_junit_writer() {
  return std::make_unique<JunitWriter>();
}

}  // namespace parity
