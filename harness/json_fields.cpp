// Reading JSON that another program wrote.
#include "harness/json_fields.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace parity {
namespace {

constexpr int kDeepest = 32;

/// nlohmann's parser builds whatever depth it meets, at some hundred bytes a bracket.
bool too_deep(std::string_view line) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Json parse_json_object(std::string_view line, std::string& problem) {
  if (too_deep(line)) {
    problem = fmt::format("nested deeper than {}", kDeepest);
    return Json::object();
  }
  Json parsed = Json::parse(line, nullptr, false);
  if (parsed.is_object()) return parsed;
  problem = parsed.is_discarded() ? "not JSON" : "not a JSON object";
  return Json::object();
}

Json object_with(const char* key, Json value) {
  Json json = Json::object();
  json[key] = std::move(value);
  return json;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string excerpt(std::string_view line, std::size_t longest) {
  std::string out(line.substr(0, longest));
  for (char& c : out) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return line.size() > longest ? out + "..." : out;
}

std::string Fields::text(const char* key) const {
  const Json* value = require(key);
  return value == nullptr ? std::string() : text_of(key, *value);
}

std::vector<std::string> Fields::texts(const char* key) const {
  require(key);
  return optional_texts(key);
}

bool Fields::flag(const char* key) const {
  const Json* value = require(key);
  return value != nullptr && flag_of(key, *value);
}

const Json& Fields::list(const char* key) const {
  require(key);
  return optional_list(key);
}

std::string Fields::optional_text(const char* key) const {
  const Json* value = find(key);
  return value == nullptr ? std::string() : text_of(key, *value);
}

std::int64_t Fields::optional_count(const char* key) const {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const Json* value = find(key);
  if (value == nullptr) return 0;
  if (value->is_number_unsigned() && value->get<std::uint64_t>() <= kMost) {
    return value->get<std::int64_t>();
  }
  complain(key, "is not a whole number from 0 on");
  return 0;
}

bool Fields::optional_flag(const char* key) const {
  const Json* value = find(key);
  return value != nullptr && flag_of(key, *value);
}

double Fields::optional_number(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) return 0;
  if (value->is_number()) return value->get<double>();
  const std::string word = value->is_string() ? value->get<std::string>() : std::string();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  complain(key, "is not a number");
  return 0;
}

const Json& Fields::optional_list(const char* key) const {
  static const Json empty = Json::array();
  const Json* value = find(key);
  if (value == nullptr) return empty;
  if (value->is_array()) return *value;
  complain(key, "is not a list");
  return empty;
}

std::vector<std::string> Fields::optional_texts(const char* key) const {
  std::vector<std::string> out;
  for (const Json& value : optional_list(key)) out.push_back(text_of(key, value));
  return out;
}

Fields Fields::object(const char* key) const {
  static const Json empty = Json::object();
  const Json* value = require(key);
  if (value != nullptr && value->is_object()) return {*value, problem_};
  complain(key, "is not an object");
  return {empty, problem_};
}

void Fields::complain(const char* key, std::string_view what) const {
  if (problem_.empty()) problem_ = fmt::format("field '{}' {}", key, what);
}

const Json* Fields::find(const char* key) const {
  if (!object_.is_object()) return nullptr;
  const auto it = object_.find(key);
  return it == object_.end() ? nullptr : &*it;
}

const Json* Fields::require(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) complain(key, "is missing");
  return value;
}

std::string Fields::text_of(const char* key, const Json& value) const {
  if (value.is_string()) return value.get<std::string>();
  complain(key, "is not a text");
  return {};
}

bool Fields::flag_of(const char* key, const Json& value) const {
  if (value.is_boolean()) return value.get<bool>();
  complain(key, "is not true or false");
  return false;
}

}  // namespace parity
