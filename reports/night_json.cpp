// Schema parity.night/1, there and back: the commit, and the steps of a night.
#include <limits>
#include <nlohmann/json.hpp>

#include "reports/report_reader.hpp"
#include "reports/schema_readers.hpp"

namespace parity {
namespace {

using Json = nlohmann::ordered_json;

ReportedStep read_step(const JsonValue& json) {
  ReportedStep step;
  step.name = json.at("name").text();
  step.command = json.at("command").text();
  const std::int64_t code = json.at("exit_code").whole();
  using Limits = std::numeric_limits<int>;
  if (code < Limits::min() || code > Limits::max()) json.at("exit_code").refuse("is no exit code");
  step.exit_code = static_cast<int>(code);
  step.said = json.at("said").text();
  return step;
}

}  // namespace

Night read_night(const JsonValue& json) {
  Night night;
  night.commit = json.at("commit").text();
  for (const JsonValue& step : json.at("steps").list()) night.steps.push_back(read_step(step));
  return night;
}

std::string night_json(const JoinedRuns& joined) {
  Json steps = Json::array();
  for (const ReportedStep& step : joined.steps) {
    Json json = {{"name", step.name},
                 {"command", step.command},
                 {"exit_code", step.exit_code},
                 {"said", step.said}};
    steps.push_back(std::move(json));
  }
  const Json json = {
      {"schema", "parity.night/1"}, {"commit", joined.commit}, {"steps", std::move(steps)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace parity
