// The report as JSON, schema parity.run/1.
#include "reports/report.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>

namespace parity {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no word for numbers that are not finite.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json rate(const Rate& rate) {
  return Json::array({rate.hits, rate.runs});
}

Json pairs(const PairCount& count) {
  return {{"possible", count.possible}, {"planned", count.planned}, {"exercised", count.exercised}};
}

/// `outputs` and `detail` stand only where there is something to say.
Json case_summary(const CaseSummary& summary) {
  Json json = {{"id", summary.id},
               {"verdict", name(summary.verdict)},
               {"error", number(summary.error)},
               {"tolerance", number(summary.tolerance)},
               {"runs", summary.runs},
               {"distinct_bits", summary.distinct_bits}};
  for (const OutputError& output : summary.outputs)
    json["outputs"][output.name] = {{"error", number(output.error)},
                                    {"tolerance", number(output.tolerance)},
                                    {"of_bound", number(output.of_bound)}};
  if (!summary.detail.empty()) json["detail"] = summary.detail;
  return json;
}

/// `quarantined` stands only where there is one: cases that crash or time out alone.
Json coverage(const Coverage& coverage, std::size_t threads,
              const std::vector<std::string>& quarantined) {
  Json json = {{"orders", coverage.orders},
               {"executions", coverage.executions},
               {"process_starts", coverage.process_starts},
               {"adjacent_pairs", pairs(coverage.adjacent)},
               {"ordered_pairs", pairs(coverage.ordered)}};
  if (threads > 1) json["pairs_together"] = pairs(coverage.together);
  if (!quarantined.empty()) json["quarantined"] = quarantined;
  return json;
}

Json finding(const Finding& finding) {
  Json json = {{"kind", name(finding.kind)},
               {"fingerprint", name(finding.fingerprint)},
               {"victim", finding.victim},
               {"role", name(finding.role)},
               {"also", finding.also},
               {"sequence", finding.sequence},
               {"carrier", finding.carrier},
               {"cell", finding.cell},
               {"built_for", finding.built_for},
               {"used_for", finding.used_for},
               {"grade", name(finding.grade)},
               {"replay", finding.replay},
               {"reproduced", rate(finding.reproduced)},
               {"alone", rate(finding.alone)},
               {"error", number(finding.error)},
               {"tolerance", number(finding.tolerance)},
               {"detail", finding.detail},
               {"contrast", finding.contrast},
               {"exposed", finding.exposed},
               {"not_probed", finding.not_probed}};
  if (finding.threads > 1) json["threads"] = finding.threads;
  return json;
}

class JsonWriter final : public ReportWriter {
 public:
  void write(const JoinedRuns& joined, std::ostream& out) const override {
    if (joined.runs.size() != 1) throw std::logic_error("parity.run/1 holds one run");
    const RunReport& report = joined.runs.front().report;
    Json cases = Json::array();
    for (const CaseSummary& summary : report.cases) cases.push_back(case_summary(summary));
    Json findings = Json::array();
    for (const Finding& found : report.findings) findings.push_back(finding(found));
    Json json = {{"schema", "parity.run/1"},
                 {"backend", report.backend},
                 {"device",
                  {{"name", report.device_name},
                   {"arch", report.device_arch},
                   {"driver", report.device_driver}}},
                 {"seed", report.seed},
                 {"suite", report.suite},
                 {"plants", report.plants},
                 {"cases", std::move(cases)},
                 {"coverage", coverage(report.coverage, report.threads, report.quarantined)},
                 {"findings", std::move(findings)},
                 {"exit_code", report.exit_code}};
    if (!report.noisy.empty()) json["noisy"] = report.noisy;
    if (!report.not_probed.empty()) json["not_probed"] = report.not_probed;
    if (report.threads > 1) json["threads"] = report.threads;
    if (report.interrupted) json["interrupted"] = true;
    if (!report.resume.empty()) json["resume"] = report.resume;
    if (!report.worker_error.empty()) json["worker_error"] = report.worker_error;
    if (!report.build.empty()) json["build"] = report.build;
    // Words of a dying worker need not be UTF-8; they must not cost the report.
    out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  }
};

}  // namespace

std::unique_ptr<ReportWriter> make_json_writer() {
  return std::make_unique<JsonWriter>();
}

}  // namespace parity
