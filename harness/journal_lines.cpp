#include "harness/journal_lines.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/errors.hpp"
#include "harness/json_fields.hpp"

namespace parity {
namespace {

constexpr std::size_t kDigits = 32;
constexpr int kVersion = 1;
/// In the order of Status.
constexpr std::array kStatusWords = {"ok",      "unsupported", "error",
                                     "crashed", "timed_out",   "not_run"};
/// In the order of Step::Kind.
constexpr std::array kStepWords = {"run", "restore", "set", "snapshot"};

std::string sound_line(const Json& json) {
  const std::string text = dump(json);
  return digest(text).hex() + " " + text + "\n";
}

Json cell_json(const CellSeen& cell) {
  return Json::array({cell.carrier, cell.cell, cell.wrote ? "wrote" : "", cell.built_for,
                      cell.used_for, cell.writer});
}

CellSeen read_cell(const Json& json) {
  return {json.at(0), json.at(1), json.at(2) == "wrote", json.at(3), json.at(4), json.at(5)};
}

/// Without `milliseconds`, which enters no result. What is usual is left out.
Json outcome_json(const Outcome& outcome) {
  Json json = object_with("status", kStatusWords.at(static_cast<std::size_t>(outcome.status)));
  if (!outcome.detail.empty()) json["detail"] = outcome.detail;
  if (!outcome.plan.empty()) json["plan"] = outcome.plan;
  if (outcome.timed_plan) json["timed_plan"] = true;
  for (const OutputDigest& output : outcome.outputs)
    json["outputs"].push_back(Json::array({output.name, output.digest.hex()}));
  if (outcome.unwritten != 0) json["unwritten"] = outcome.unwritten;
  if (!outcome.broken_guards.empty()) json["guards"] = outcome.broken_guards;
  if (!outcome.changed_inputs.empty()) json["inputs"] = outcome.changed_inputs;
  for (const CellSeen& cell : outcome.cells) json["cells"].push_back(cell_json(cell));
  return json;
}

Status read_status(const std::string& word) {
  for (std::size_t i = 0; i < kStatusWords.size(); ++i)
    if (word == kStatusWords.at(i)) return static_cast<Status>(i);
  throw DatasetError("unknown status " + word);
}

Outcome read_outcome(const Json& json) {
  Outcome outcome;
  outcome.status = read_status(json.at("status"));
  outcome.detail = json.value("detail", "");
  outcome.plan = json.value("plan", "");
  outcome.timed_plan = json.value("timed_plan", false);
  for (const Json& output : json.value("outputs", Json::array()))
    outcome.outputs.push_back({output.at(0), Digest::parse(output.at(1).get<std::string>())});
  outcome.unwritten = json.value("unwritten", std::int64_t{0});
  outcome.broken_guards = json.value("guards", std::vector<std::string>());
  outcome.changed_inputs = json.value("inputs", std::vector<std::string>());
  for (const Json& cell : json.value("cells", Json::array()))
    outcome.cells.push_back(read_cell(cell));
  return outcome;
}

JournalHead read_head(const Json& json) {
  if (json.at("journal") != kVersion) throw DatasetError("a journal of another version");
  return {json.at("arguments"),   json.at("folder"),      json.at("build"),
          json.at("pack"),        json.at("worker"),      json.at("backend"),
          json.at("device_name"), json.at("device_arch"), json.at("device_driver")};
}

std::pair<Journal::Place, JournalEntry> read_entry(const Json& json) {
  std::pair<Journal::Place, JournalEntry> read;
  read.first = {Digest::parse(json.at("sequence").get<std::string>()), json.at("ask")};
  for (const Json& outcome : json.at("outcomes"))
    read.second.result.outcomes.push_back(read_outcome(outcome));
  for (const Json& snapshot : json.value("snapshots", Json::array()))
    read.second.result.snapshots.push_back({snapshot.at(0), snapshot.at(1)});
  read.second.bad_end = json.value("bad_end", "");
  return read;
}

}  // namespace

std::string journal_line(const JournalHead& head) {
  Json json = object_with("journal", kVersion);
  json["arguments"] = head.arguments;
  json["folder"] = head.folder;
  json["build"] = head.build;
  json["pack"] = head.pack;
  json["worker"] = head.worker;
  json["backend"] = head.backend;
  json["device_name"] = head.device_name;
  json["device_arch"] = head.device_arch;
  json["device_driver"] = head.device_driver;
  return sound_line(json);
}

std::string journal_line(const Journal::Place& place, const JournalEntry& entry) {
  Json json = object_with("sequence", place.sequence.hex());
  json["ask"] = place.ask;
  json["outcomes"] = Json::array();
  for (const Outcome& outcome : entry.result.outcomes)
    json["outcomes"].push_back(outcome_json(outcome));
  for (const CarrierState& snapshot : entry.result.snapshots)
    json["snapshots"].push_back(Json::array({snapshot.carrier, snapshot.state}));
  if (!entry.bad_end.empty()) json["bad_end"] = entry.bad_end;
  return sound_line(json);
}

std::string journal_line(const JournalEnd& end) {
  Json json = object_with("ended", true);
  json["budget"] = end.budget;
  json["out_of_time"] = end.out_of_time;
  json["random_batches"] = end.random_batches;
  return sound_line(json);
}

std::optional<JournalLine> parse_journal_line(std::string_view line) {
  if (line.size() <= kDigits || line[kDigits] != ' ') return std::nullopt;
  const std::string_view text = line.substr(kDigits + 1);
  if (digest(text).hex() != line.substr(0, kDigits)) return std::nullopt;
  try {
    const Json json = Json::parse(text);
    if (json.contains("journal")) return read_head(json);
    if (json.contains("ended"))
      return JournalEnd{json.at("budget"), json.at("out_of_time"), json.at("random_batches")};
    return read_entry(json);
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const DatasetError&) {
    return std::nullopt;
  }
}

Digest digest_of(const Sequence& sequence) {
  Json json = Json::array({sequence.poison_phase, sequence.threads, sequence.patience});
  for (const Step& step : sequence.steps)
    json.push_back(Json::array({kStepWords.at(static_cast<std::size_t>(step.kind)), step.case_index,
                                step.carrier, step.state}));
  return digest(dump(json));
}

}  // namespace parity
