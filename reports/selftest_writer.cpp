#include "reports/selftest_writer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "reports/finding_sentence.hpp"

namespace parity {
namespace {

using Json = nlohmann::ordered_json;

std::string line(std::string_view leak_class, std::string_view plant, std::string_view found,
                 std::string_view carrier, std::string_view grade, std::string_view executions,
                 std::string_view starts, std::string_view seconds) {
  return fmt::format("{:<11} {:<30}  {:<15}  {:<26}  {:<10}  {:>10}  {:>6}  {:>7}\n", leak_class,
                     plant, found, carrier, grade, executions, starts, seconds);
}

std::string found_and_sequence(std::string_view found, std::string_view sequence) {
  return fmt::format("{:<5}  {:<8}", found, sequence);
}

/// Of a control there is no sequence.
std::string found_text(const SelftestRow& row) {
  if (row.control) return std::string(result_word(row));
  return found_and_sequence(row.found ? "yes" : "no", row.exact ? "exact" : "no");
}

std::string_view carrier_word(const SelftestRow& row) {
  if (row.control) return "";
  if (!row.carrier_right) return "no";
  if (row.carrier.empty()) return "unnamed";
  return row.carrier;
}

/// Of what shows by chance the rate says more: nothing is claimed as certain.
std::string_view grade_word(const SelftestRow& row) {
  if (row.control) return "";
  return row.rate.empty() ? row.grade : row.rate;
}

}  // namespace

bool right(const SelftestRow& row) {
  return row.found && row.missing.empty() && row.worker_error.empty();
}

std::string_view result_word(const SelftestRow& row) {
  if (!row.found) return row.control ? "falsely accused" : "missed";
  if (right(row)) return row.control ? "clean" : "found";
  return row.control ? "did not pass" : "named wrongly";
}

std::string selftest_heading() {
  return line("class", "plant", found_and_sequence("found", "sequence"), "carrier", "grade",
              "executions", "starts", "seconds");
}

std::string selftest_line(const SelftestRow& row) {
  if (!row.applicable)
    return fmt::format("{:<11} {:<30}  not on this backend\n", row.leak_class, row.name);
  std::string text = line(row.leak_class, row.name, found_text(row), carrier_word(row),
                          grade_word(row), fmt::to_string(row.executions),
                          fmt::to_string(row.process_starts), fmt::format("{:.1f}", row.seconds));
  for (const std::string& why : {row.missing, row.worker_error})
    if (!why.empty()) text += fmt::format("{:<11} {}\n", "", why);
  return text;
}

std::string selftest_summary(const SelftestReport& report) {
  std::string text;
  for (const SelftestRow& row : report.rows) {
    if (!row.applicable) continue;
    const auto say = [&](std::string_view what, const std::string& why) {
      text += fmt::format("{}: {}{}{}\n   again   {}\n", what, row.name, why.empty() ? "" : ": ",
                          why, row.command);
    };
    if (!row.worker_error.empty()) say("worker error", row.worker_error);
    if (!row.found || !row.missing.empty()) say(result_word(row), row.missing);
  }
  text += fmt::format("{} of {} plants found, {} exactly named; {}\n", report.plants_found(),
                      report.plants(), report.plants_named(),
                      plural(report.false_accusations(), "false accusation"));
  if (report.interrupted) text += "interrupted: the rest did not run\n";
  return text;
}

std::string selftest_json(const SelftestReport& report) {
  Json rows = Json::array();
  for (const SelftestRow& row : report.rows) {
    Json json = {{"class", row.leak_class},
                 {"name", row.name},
                 {"control", row.control},
                 {"applicable", row.applicable}};
    if (row.applicable) {
      json["found"] = row.found;
      json["exact"] = row.exact;
      json["carrier_right"] = row.carrier_right;
      json["carrier"] = row.carrier;
      json["grade"] = row.grade;
      if (!row.rate.empty()) json["rate"] = row.rate;
      json["executions"] = row.executions;
      json["process_starts"] = row.process_starts;
      json["missing"] = row.missing;
      if (!row.worker_error.empty()) json["worker_error"] = row.worker_error;
      json["command"] = row.command;
    }
    rows.push_back(std::move(json));
  }
  const Json json = {
      {"schema", "parity.selftest/1"},     {"backend", report.backend},
      {"device", report.device_name},      {"rows", std::move(rows)},
      {"plants", report.plants()},         {"found", report.plants_found()},
      {"named", report.plants_named()},    {"false_accusations", report.false_accusations()},
      {"interrupted", report.interrupted}, {"exit_code", exit_code(report)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace parity
