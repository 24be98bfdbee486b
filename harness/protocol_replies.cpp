// The worker protocol's replies as JSON lines, both ways.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "datasets/errors.hpp"
#include "harness/json_fields.hpp"
#include "harness/protocol.hpp"

namespace parity {
namespace {

Json ok_reply() {
  return object_with("ok", true);
}

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

const char* status_word(Status status) {
  if (status == Status::ok) return "ok";
  return status == Status::unsupported ? "unsupported" : "error";
}

std::string nonsense(std::string_view problem, std::string_view line) {
  return fmt::format("the worker wrote nonsense: {}: '{}'", problem, excerpt(line));
}

Digest read_digest(const Fields& fields) {
  const std::string hex = fields.text("digest");
  const bool hexadecimal = hex.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (hexadecimal && hex.size() == 32) return Digest::parse(hex);
  fields.complain("digest", "is not 32 lower-case hexadecimal digits");
  return {};
}

CellSeen read_cell(const Fields& fields) {
  return {.carrier = fields.text("carrier"),
          .cell = fields.text("cell"),
          .wrote = fields.optional_flag("wrote"),
          .built_for = fields.optional_text("built_for"),
          .used_for = fields.optional_text("used_for"),
          .writer = fields.optional_text("writer")};
}

Json cell_json(const CellSeen& cell) {
  Json json = object_with("carrier", cell.carrier);
  json["cell"] = cell.cell;
  json["wrote"] = cell.wrote;
  json["built_for"] = cell.built_for;
  json["used_for"] = cell.used_for;
  json["writer"] = cell.writer;
  return json;
}

Json run_json(const Outcome& outcome) {
  Json json = ok_reply();
  json["status"] = status_word(outcome.status);
  json["reason"] = outcome.detail;
  json["plan"] = outcome.plan;
  if (outcome.timed_plan) json["timed_plan"] = true;
  json["outputs"] = Json::array();
  for (const OutputDigest& output : outcome.outputs) {
    Json entry = object_with("name", output.name);
    entry["digest"] = output.digest.hex();
    json["outputs"].push_back(entry);
  }
  json["unwritten"] = outcome.unwritten;
  json["broken_guards"] = outcome.broken_guards;
  json["changed_inputs"] = outcome.changed_inputs;
  json["ms"] = number(outcome.milliseconds);
  json["cells"] = Json::array();
  for (const CellSeen& cell : outcome.cells) json["cells"].push_back(cell_json(cell));
  return json;
}

Outcome read_run(const Fields& fields) {
  Outcome outcome;
  const std::string status = fields.text("status");
  if (status == "ok") outcome.status = Status::ok;
  if (status == "unsupported") outcome.status = Status::unsupported;
  if (status == "error") outcome.status = Status::error;
  if (outcome.status == Status::not_run) {
    fields.complain("status", "is not ok, unsupported or error");
  }
  outcome.detail = one_line(fields.optional_text("reason"));
  outcome.plan = fields.optional_text("plan");
  outcome.timed_plan = fields.optional_flag("timed_plan");
  for (const Json& output : fields.optional_list("outputs")) {
    const Fields entry(output, fields.problem());
    outcome.outputs.push_back({entry.text("name"), read_digest(entry)});
  }
  outcome.unwritten = fields.optional_count("unwritten");
  outcome.broken_guards = fields.optional_texts("broken_guards");
  outcome.changed_inputs = fields.optional_texts("changed_inputs");
  for (const Json& cell : fields.optional_list("cells")) {
    outcome.cells.push_back(read_cell({cell, fields.problem()}));
  }
  outcome.milliseconds = fields.optional_number("ms");
  return outcome;
}

/// A reply without what depends on its request: `problem` when it is nonsense, else `ok`, else the
/// worker's own words in `refusal`.
struct Answer {
  Json object;
  std::string problem;
  std::string refusal;
  bool ok = false;
};

Answer parse_answer(std::string_view line) {
  Answer answer;
  answer.object = parse_json_object(line, answer.problem);
  const Fields fields(answer.object, answer.problem);
  answer.ok = fields.flag("ok");
  if (answer.problem.empty() && !answer.ok) answer.refusal = one_line(fields.text("error"));
  return answer;
}

/// Throws what is wrong with it.
void require_sound(const Answer& answer, std::string_view line) {
  if (!answer.problem.empty()) throw DeviceError(nonsense(answer.problem, line));
  if (!answer.ok) throw DeviceError(fmt::format("the worker answered: {}", answer.refusal));
}

/// An object with `ok`, and more where that is true.
Outcome read_outcome(const Fields& fields) {
  if (fields.flag("ok")) return read_run(fields);
  Outcome outcome;
  outcome.status = Status::error;
  outcome.detail = one_line(fields.text("error"));
  return outcome;
}

Outcome crashed(const std::string& problem, std::string_view line) {
  Outcome outcome;
  outcome.status = Status::crashed;
  outcome.detail = nonsense(problem, line);
  return outcome;
}

Outcome outcome_of(const Answer& answer, std::string_view line) {
  if (!answer.problem.empty()) return crashed(answer.problem, line);
  Outcome outcome;
  outcome.status = answer.ok ? Status::ok : Status::error;
  outcome.detail = answer.refusal;
  return outcome;
}

}  // namespace

std::string failure_reply(std::string_view error) {
  Json json = object_with("ok", false);
  json["error"] = one_line(error);
  return dump(json);
}

std::string hello_reply(const HelloReply& reply) {
  Json json = ok_reply();
  json["protocol"] = kProtocolVersion;
  json["worker"] = reply.worker;
  json["backend"] = reply.backend;
  json["device"]["name"] = reply.device_name;
  json["device"]["arch"] = reply.device_arch;
  json["device"]["driver"] = reply.device_driver;
  json["kernels"] = reply.kernels;
  json["carriers"]["probe"] = reply.carriers.probe;
  json["carriers"]["restore"] = reply.carriers.restore;
  json["carriers"]["set"] = reply.carriers.set;
  json["carriers"]["not_probed"] = reply.carriers.not_probed;
  if (reply.threads) json["threads"] = true;
  return dump(json);
}

std::string describe_reply(const std::vector<ModuleDescription>& modules) {
  Json json = ok_reply();
  json["modules"] = Json::array();
  for (const ModuleDescription& module : modules) {
    Json entry = object_with("key", module.key);
    entry["source_path"] = module.source_path;
    json["modules"].push_back(entry);
  }
  return dump(json);
}

std::string run_reply(const Outcome& outcome) {
  return dump(run_json(outcome));
}

std::string together_reply(const std::vector<Outcome>& outcomes) {
  Json json = ok_reply();
  json["outcomes"] = Json::array();
  for (const Outcome& outcome : outcomes) json["outcomes"].push_back(run_json(outcome));
  return dump(json);
}

std::string prepare_reply(const std::vector<std::string>& warnings) {
  Json json = ok_reply();
  if (!warnings.empty()) json["warnings"] = warnings;
  return dump(json);
}

std::string snapshot_reply(std::string_view state) {
  Json json = ok_reply();
  json["state"] = state;
  return dump(json);
}

std::string done_reply() {
  return dump(ok_reply());
}

HelloReply parse_hello_reply(std::string_view line) {
  Answer answer = parse_answer(line);
  if (answer.object.contains("op") && !answer.object.contains("ok"))
    throw DeviceError(
        fmt::format("the worker sent its request back instead of answering it, as in "
                    "harness/PROTOCOL.md: '{}'",
                    excerpt(line)));
  require_sound(answer, line);
  const Fields fields(answer.object, answer.problem);
  if (fields.optional_count("protocol") != kProtocolVersion) {
    fields.complain("protocol", fmt::format("is not {}", kProtocolVersion));
  }
  const Fields device = fields.object("device");
  const Fields carriers = fields.object("carriers");
  HelloReply reply = {.worker = fields.text("worker"),
                      .backend = fields.text("backend"),
                      .device_name = device.text("name"),
                      .device_arch = device.text("arch"),
                      .device_driver = device.text("driver"),
                      .kernels = fields.texts("kernels"),
                      .carriers = {.probe = carriers.texts("probe"),
                                   .restore = carriers.texts("restore"),
                                   .set = carriers.texts("set"),
                                   .not_probed = carriers.texts("not_probed")},
                      .threads = fields.optional_flag("threads")};
  require_sound(answer, line);
  return reply;
}

std::vector<ModuleDescription> parse_describe_reply(std::string_view line) {
  Answer answer = parse_answer(line);
  require_sound(answer, line);
  const Fields fields(answer.object, answer.problem);
  std::vector<ModuleDescription> modules;
  for (const Json& module : fields.optional_list("modules")) {
    const Fields entry(module, answer.problem);
    modules.push_back({entry.text("key"), entry.optional_text("source_path")});
  }
  require_sound(answer, line);
  return modules;
}

Outcome parse_run_reply(std::string_view line) {
  Answer answer = parse_answer(line);
  if (!answer.problem.empty() || !answer.ok) return outcome_of(answer, line);
  Outcome outcome = read_run(Fields(answer.object, answer.problem));
  return answer.problem.empty() ? outcome : crashed(answer.problem, line);
}

std::vector<Outcome> parse_together_reply(std::string_view line, std::size_t count) {
  Answer answer = parse_answer(line);
  std::vector<Outcome> outcomes;
  if (answer.problem.empty() && answer.ok) {
    const Fields fields(answer.object, answer.problem);
    for (const Json& entry : fields.list("outcomes"))
      outcomes.push_back(read_outcome({entry, answer.problem}));
    if (outcomes.size() != count)
      fields.complain("outcomes", fmt::format("holds {}, not {}", outcomes.size(), count));
    if (answer.problem.empty()) return outcomes;
  }
  return std::vector<Outcome>(count, outcome_of(answer, line));
}

PrepareReply parse_prepare_reply(std::string_view line) {
  Answer answer = parse_answer(line);
  PrepareReply reply;
  if (answer.problem.empty() && answer.ok) {
    for (const std::string& text : Fields(answer.object, answer.problem).optional_texts("warnings"))
      reply.warnings.push_back(one_line(text));
  }
  reply.outcome = outcome_of(answer, line);
  return reply;
}

SnapshotReply parse_snapshot_reply(std::string_view line) {
  Answer answer = parse_answer(line);
  SnapshotReply reply;
  if (answer.problem.empty() && answer.ok) {
    reply.state = Fields(answer.object, answer.problem).text("state");
  }
  reply.outcome = outcome_of(answer, line);
  return reply;
}

Outcome parse_done_reply(std::string_view line) {
  return outcome_of(parse_answer(line), line);
}

}  // namespace parity
