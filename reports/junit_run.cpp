// One run for JUnit: nothing that a finding names may look as if it had passed.
#include "reports/junit_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/finding_sentence.hpp"
#include "reports/reported_case.hpp"

namespace parity {
namespace {

std::string listed(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

bool names(const Finding& finding, const std::string& id) {
  return finding.victim == id || std::ranges::find(finding.also, id) != finding.also.end();
}

bool ended_early(Verdict verdict) {
  return verdict == Verdict::crashed || verdict == Verdict::timed_out || verdict == Verdict::error;
}

bool ended_early(Fingerprint symptom) {
  return symptom == Fingerprint::crash || symptom == Fingerprint::timeout ||
         symptom == Fingerprint::error;
}

std::string line(std::string_view label, std::string_view text) {
  return text.empty() ? "" : fmt::format("{:<15} {}\n", label, text);
}

std::string finding_body(const Finding& finding, const std::string& whose) {
  std::string body = finding_sentence(finding) + "\n";
  if (finding.victim != whose)
    body += line("this case", fmt::format("is among the {}; its own sequence was not looked for",
                                          other_victims(finding)));
  for (const auto& [letter, id] : sequence_labels(finding)) body += line(letter, id);
  body += line("kind", name(finding.kind));
  body += line("fingerprint", name(finding.fingerprint));
  body += line("seen", fmt::format("{} of {} in fresh processes, against {} of {} alone",
                                   finding.reproduced.hits, finding.reproduced.runs,
                                   finding.alone.hits, finding.alone.runs));
  body += line("detail", finding.detail);
  body += line("role", name(finding.role));
  body += line("victim", finding.victim);
  body += line("replay", finding.replay);
  body += line("contrast", finding.contrast);
  body += line("exposed", listed(finding.exposed));
  return body;
}

/// Of a case that findings name: the first gives the type, all stand in the body.
XmlElement accused(const CaseSummary& summary, const std::vector<const Finding*>& findings) {
  const Finding& first = *findings.front();
  std::string message = finding_sentence(first);
  if (findings.size() > 1) message += fmt::format(" (and {} more)", findings.size() - 1);
  std::string body;
  bool early = ended_early(summary.verdict);
  for (const Finding* finding : findings) {
    body += (body.empty() ? "\n" : "\n\n") + finding_body(*finding, summary.id);
    early = early || ended_early(finding->fingerprint);
  }
  return junit_word(early ? "error" : "failure",
                    fmt::format("{}/{}", name(first.kind), name(first.fingerprint)), message, body);
}

XmlElement test_case(const CaseSummary& summary, const std::vector<Finding>& findings) {
  XmlElement test = junit_case(std::string(kernel_of(summary.id)), summary.id);
  std::vector<const Finding*> about;
  for (const Finding& finding : findings)
    if (names(finding, summary.id)) about.push_back(&finding);
  if (!about.empty()) {
    test.add(accused(summary, about));
    return test;
  }
  const std::string word(name(summary.verdict));
  const std::string& why = summary.detail;
  if (summary.verdict == Verdict::unsupported || summary.verdict == Verdict::not_run)
    test.add(junit_word("skipped", "", why.empty() ? word : fmt::format("{}: {}", word, why), ""));
  else if (summary.verdict != Verdict::passed)
    test.add(junit_word(ended_early(summary.verdict) ? "error" : "failure", word,
                        why.empty() ? word : why, ""));
  return test;
}

/// Victims that stand in no list of cases must not be lost.
std::vector<CaseSummary> cases_of(const RunReport& report) {
  std::vector<CaseSummary> cases = report.cases;
  std::set<std::string> known;
  for (const CaseSummary& summary : cases) known.insert(summary.id);
  const auto add = [&](const std::string& id) {
    if (known.insert(id).second) cases.emplace_back().id = id;
  };
  for (const Finding& finding : report.findings) {
    add(finding.victim);
    for (const std::string& id : finding.also) add(id);
  }
  return cases;
}

/// What is of no case and yet no pass.
void add_run_itself(XmlElement& suite, const RunReport& report) {
  const auto add = [&](const char* type, const std::string& message, const std::string& body) {
    suite.add(junit_case("harness", "run")).add(junit_word("error", type, message, body));
  };
  const std::string resume = line("resume", report.resume);
  if (!report.worker_error.empty()) return add("worker_error", report.worker_error, resume);
  if (report.interrupted)
    return add("interrupted", "stopped before the plan's end: the rest did not run", resume);
  const bool told = std::ranges::any_of(suite.children, [](const XmlElement& test) {
    return !test.children.empty() && test.children.front().name != "skipped";
  });
  if (report.exit_code != 0 && !told)
    add("exit_code", fmt::format("the run ended with exit code {}", report.exit_code), resume);
}

void add_properties(XmlElement& suite, const RunReport& report, const std::string& commit) {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  std::vector<std::pair<std::string, std::string>> all = {
      {"backend", report.backend},
      {"device", report.device_name},
      {"arch", report.device_arch},
      {"driver", report.device_driver},
      {"suite", report.suite},
      {"seed", number(report.seed)},
      {"threads", number(report.threads)},
      {"plants", listed(report.plants)},
      {"noisy", listed(report.noisy)},
      {"commit", commit},
      {"build", report.build},
      {"exit_code", number(report.exit_code)},
      {"orders", number(report.coverage.orders)},
      {"executions", number(report.coverage.executions)},
      {"process_starts", number(report.coverage.process_starts)}};
  const auto add_pairs = [&](const std::string& name, const PairCount& pairs) {
    all.emplace_back(name + ".exercised", number(pairs.exercised));
    all.emplace_back(name + ".planned", number(pairs.planned));
    all.emplace_back(name + ".possible", number(pairs.possible));
  };
  add_pairs("adjacent_pairs", report.coverage.adjacent);
  add_pairs("ordered_pairs", report.coverage.ordered);
  if (report.threads > 1) add_pairs("pairs_together", report.coverage.together);
  all.emplace_back("quarantined", listed(report.quarantined));
  all.emplace_back("not_probed", listed(report.not_probed));
  all.emplace_back("interrupted", report.interrupted ? "true" : "");
  all.emplace_back("resume", report.resume);
  all.emplace_back("worker_error", report.worker_error);
  add_junit_properties(suite, all);
}

}  // namespace

XmlElement junit_case(std::string classname, std::string name) {
  return {"testcase", {{"classname", std::move(classname)}, {"name", std::move(name)}}};
}

XmlElement junit_word(std::string word, std::string type, std::string message, std::string body) {
  XmlElement element{std::move(word), {}};
  if (!type.empty()) element.set("type", std::move(type));
  element.set("message", std::move(message));
  element.text = std::move(body);
  return element;
}

void add_junit_properties(XmlElement& suite,
                          const std::vector<std::pair<std::string, std::string>>& properties) {
  XmlElement all{"properties", {}};
  for (const auto& [name, value] : properties)
    if (!value.empty()) all.add({"property", {{"name", name}, {"value", value}}});
  if (!all.children.empty()) suite.children.insert(suite.children.begin(), std::move(all));
}

XmlElement junit_run(const RunReport& report, const std::string& name, const std::string& commit) {
  XmlElement suite{"testsuite", {{"name", name}}};
  for (const CaseSummary& summary : cases_of(report))
    suite.add(test_case(summary, report.findings));
  add_run_itself(suite, report);
  add_properties(suite, report, commit);
  return suite;
}

}  // namespace parity
