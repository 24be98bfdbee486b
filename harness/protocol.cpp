// The worker protocol's requests as JSON lines, both ways. Replies: protocol_replies.cpp.
#include "harness/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "datasets/errors.hpp"
#include "harness/json_fields.hpp"

namespace parity {
namespace {

Json request(const char* op) {
  return object_with("op", op);
}

std::string request_with(const char* op, const char* key, std::string_view value) {
  Json json = request(op);
  json[key] = value;
  return dump(json);
}

Hello read_hello(const Fields& fields) {
  if (fields.optional_count("protocol") != kProtocolVersion) {
    fields.complain("protocol", fmt::format("is not {}", kProtocolVersion));
  }
  Hello hello = {fields.text("pack"),
                 fields.text("blobs"),
                 fields.text("modules"),
                 fields.text("backend"),
                 fields.optional_texts("plants"),
                 fields.optional_text("spare_modules")};
  if (const std::string autotune = fields.optional_text("autotune"); !autotune.empty())
    hello.autotune = autotune;
  if (hello.autotune != "recorded" && hello.autotune != "measure")
    fields.complain("autotune", "is not recorded or measure");
  hello.autotune_file = fields.optional_text("autotune_file");
  const std::array known = {"auto", "cuda", "host"};
  if (std::find(known.begin(), known.end(), hello.backend) == known.end()) {
    fields.complain("backend", "is not auto, cuda or host");
  }
  return hello;
}

unsigned read_poison(const Fields& fields) {
  const std::int64_t poison = fields.optional_count("poison");
  if (poison > 1) fields.complain("poison", "is not 0 or 1");
  return static_cast<unsigned>(poison);
}

Json run_json(std::string_view id, unsigned poison) {
  Json json = object_with("id", id);
  json["poison"] = poison;
  return json;
}

Request read_request(const Fields& fields) {
  Request request;
  request.op = fields.text("op");
  const std::string& op = request.op;
  if (op == "hello") {
    request.hello = read_hello(fields);
  } else if (op == "describe" || op == "prepare" || op == "run") {
    request.id = fields.text("id");
    if (op == "run") request.poison = read_poison(fields);
  } else if (op == "together") {
    for (const Json& run : fields.list("runs")) {
      const Fields entry(run, fields.problem());
      request.runs.push_back({entry.text("id"), read_poison(entry)});
    }
    if (request.runs.empty()) fields.complain("runs", "is empty");
  } else if (op == "restore" || op == "snapshot" || op == "set") {
    request.carrier = fields.text("carrier");
    if (op == "set") request.state = fields.text("state");
  } else if (op != "bye") {
    fields.complain(
        "op", "is not hello, describe, prepare, run, together, restore, snapshot, set or bye");
  }
  return request;
}

}  // namespace

std::string hello_request(const Hello& hello) {
  Json json = request("hello");
  json["protocol"] = kProtocolVersion;
  json["pack"] = hello.pack;
  json["blobs"] = hello.blobs;
  json["modules"] = hello.modules;
  json["backend"] = hello.backend;
  json["plants"] = hello.plants;
  if (!hello.spare_modules.empty()) json["spare_modules"] = hello.spare_modules;
  if (hello.autotune != Hello{}.autotune) json["autotune"] = hello.autotune;
  if (!hello.autotune_file.empty()) json["autotune_file"] = hello.autotune_file;
  return dump(json);
}

std::string describe_request(std::string_view id) {
  return request_with("describe", "id", id);
}
std::string prepare_request(std::string_view id) {
  return request_with("prepare", "id", id);
}

std::string run_request(std::string_view id, unsigned poison) {
  Json json = request("run");
  json["id"] = id;
  json["poison"] = poison;
  return dump(json);
}

std::string together_request(const std::vector<RunRequest>& runs) {
  Json json = request("together");
  json["runs"] = Json::array();
  for (const RunRequest& run : runs) json["runs"].push_back(run_json(run.id, run.poison));
  return dump(json);
}

std::string restore_request(std::string_view carrier) {
  return request_with("restore", "carrier", carrier);
}

std::string snapshot_request(std::string_view carrier) {
  return request_with("snapshot", "carrier", carrier);
}

std::string set_request(std::string_view carrier, std::string_view state) {
  Json json = request("set");
  json["carrier"] = carrier;
  json["state"] = state;
  return dump(json);
}

std::string bye_request() {
  return dump(request("bye"));
}

Request parse_request(std::string_view line) {
  std::string problem;
  const Json json = parse_json_object(line, problem);
  Request request = read_request(Fields(json, problem));
  if (problem.empty()) return request;
  throw UsageError(fmt::format("not a request of worker protocol {}: {}: '{}'", kProtocolVersion,
                               problem, excerpt(line)));
}

}  // namespace parity
