// Schema parity.run/1, as json_writer.cpp writes it.
#include "reports/schema_readers.hpp"

namespace parity {
namespace {

constexpr std::uint64_t kHighestExitCode = 5;

// What stands there only when it has something to say.
std::vector<std::string> optional_texts(const JsonValue& json, std::string_view key) {
  return json.has(key) ? json.at(key).texts() : std::vector<std::string>();
}

std::string optional_text(const JsonValue& json, std::string_view key) {
  return json.has(key) ? json.at(key).text() : "";
}

std::size_t threads_of(const JsonValue& json) {
  if (!json.has("threads")) return 1;
  const std::size_t threads = json.at("threads").count();
  if (threads == 0) json.at("threads").refuse("is 0; a case runs in one thread at least");
  return threads;
}

Rate read_rate(const JsonValue& json) {
  const std::vector<JsonValue> both = json.list();
  if (both.size() != 2) json.refuse("must be two whole numbers: how often, of how many");
  return {both[0].count(), both[1].count()};
}

PairCount read_pairs(const JsonValue& json) {
  return {json.at("possible").count(), json.at("planned").count(), json.at("exercised").count()};
}

CaseSummary read_case(const JsonValue& json) {
  CaseSummary summary;
  summary.id = json.at("id").text();
  summary.verdict = word_of(json.at("verdict"), Verdict::not_run);
  summary.error = json.at("error").number();
  summary.tolerance = json.at("tolerance").number();
  summary.runs = json.at("runs").count();
  summary.distinct_bits = json.at("distinct_bits").count();
  summary.detail = optional_text(json, "detail");
  if (!json.has("outputs")) return summary;
  for (const auto& [name, output] : json.at("outputs").members())
    summary.outputs.push_back({name, output.at("error").number(), output.at("tolerance").number(),
                               output.at("of_bound").number()});
  return summary;
}

Finding read_finding(const JsonValue& json) {
  Finding finding;
  finding.kind = word_of(json.at("kind"), Kind::unconfirmed);
  finding.fingerprint = word_of(json.at("fingerprint"), Fingerprint::error);
  finding.victim = json.at("victim").text();
  finding.role = word_of(json.at("role"), Role::brittle);
  finding.also = json.at("also").texts();
  finding.sequence = json.at("sequence").texts();
  finding.threads = threads_of(json);
  finding.carrier = json.at("carrier").text();
  finding.cell = json.at("cell").text();
  finding.built_for = json.at("built_for").text();
  finding.used_for = json.at("used_for").text();
  finding.grade = word_of(json.at("grade"), Grade::unnamed);
  finding.replay = json.at("replay").text();
  finding.reproduced = read_rate(json.at("reproduced"));
  finding.alone = read_rate(json.at("alone"));
  finding.error = json.at("error").number();
  finding.tolerance = json.at("tolerance").number();
  finding.detail = json.at("detail").text();
  finding.contrast = json.at("contrast").text();
  finding.exposed = json.at("exposed").texts();
  finding.not_probed = json.at("not_probed").texts();
  return finding;
}

Coverage read_coverage(const JsonValue& json) {
  Coverage coverage;
  coverage.orders = json.at("orders").count();
  coverage.executions = json.at("executions").count();
  coverage.process_starts = json.at("process_starts").count();
  coverage.adjacent = read_pairs(json.at("adjacent_pairs"));
  coverage.ordered = read_pairs(json.at("ordered_pairs"));
  if (json.has("pairs_together")) coverage.together = read_pairs(json.at("pairs_together"));
  return coverage;
}

}  // namespace

RunReport read_run(const JsonValue& json) {
  RunReport report;
  report.backend = json.at("backend").text();
  const JsonValue device = json.at("device");
  report.device_name = device.at("name").text();
  report.device_arch = device.at("arch").text();
  report.device_driver = device.at("driver").text();
  report.seed = json.at("seed").count();
  report.suite = json.at("suite").text();
  report.threads = threads_of(json);
  report.plants = json.at("plants").texts();
  report.noisy = optional_texts(json, "noisy");
  for (const JsonValue& one : json.at("cases").list()) report.cases.push_back(read_case(one));
  report.coverage = read_coverage(json.at("coverage"));
  report.quarantined = optional_texts(json.at("coverage"), "quarantined");
  for (const JsonValue& one : json.at("findings").list())
    report.findings.push_back(read_finding(one));
  report.not_probed = optional_texts(json, "not_probed");
  report.interrupted = json.has("interrupted") && json.at("interrupted").flag();
  report.resume = optional_text(json, "resume");
  report.worker_error = optional_text(json, "worker_error");
  report.build = optional_text(json, "build");
  const std::uint64_t code = json.at("exit_code").count();
  if (code > kHighestExitCode) json.at("exit_code").refuse("is no exit code of a run: 0 to 5");
  report.exit_code = static_cast<int>(code);
  return report;
}

}  // namespace parity
