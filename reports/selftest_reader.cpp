// Schema parity.selftest/1, as selftest_writer.cpp writes it.
#include <fmt/format.h>

#include "reports/schema_readers.hpp"

namespace parity {
namespace {

SelftestRow read_row(const JsonValue& json) {
  SelftestRow row;
  row.leak_class = json.at("class").text();
  row.name = json.at("name").text();
  row.control = json.at("control").flag();
  row.applicable = json.at("applicable").flag();
  if (!row.applicable) return row;
  row.found = json.at("found").flag();
  row.exact = json.at("exact").flag();
  row.carrier_right = json.at("carrier_right").flag();
  row.carrier = json.at("carrier").text();
  row.grade = json.at("grade").text();
  if (json.has("rate")) row.rate = json.at("rate").text();
  row.executions = json.at("executions").count();
  row.process_starts = json.at("process_starts").count();
  row.missing = json.at("missing").text();
  if (json.has("worker_error")) row.worker_error = json.at("worker_error").text();
  row.command = json.at("command").text();
  return row;
}

/// The sums are those of the rows, or one of them was changed.
void require_sum(const JsonValue& json, std::string_view key, std::size_t of_rows) {
  if (json.at(key).count() != of_rows)
    json.at(key).refuse(fmt::format("is {}, but the rows give {}", json.at(key).count(), of_rows));
}

}  // namespace

SelftestReport read_selftest(const JsonValue& json) {
  SelftestReport report;
  report.backend = json.at("backend").text();
  report.device_name = json.at("device").text();
  for (const JsonValue& row : json.at("rows").list()) report.rows.push_back(read_row(row));
  report.interrupted = json.at("interrupted").flag();
  require_sum(json, "plants", report.plants());
  require_sum(json, "found", report.plants_found());
  require_sum(json, "named", report.plants_named());
  require_sum(json, "false_accusations", report.false_accusations());
  require_sum(json, "exit_code", static_cast<std::size_t>(exit_code(report)));
  return report;
}

}  // namespace parity
