// Parsing a JSON file from anywhere, and asking it for what must be there.
#include "reports/json_value.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "datasets/errors.hpp"
#include "harness/shown_text.hpp"

namespace parity {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kDeepest = 32;
constexpr std::size_t kLongestWord = 60;  ///< of a value that a message repeats
constexpr const char* kAdvice = "give a report as it was written";

[[noreturn]] void refuse_file(const std::string& name, std::string_view what) {
  throw DatasetError(fmt::format("{} {}; {}", shown(name), what, kAdvice));
}

/// Watches a parse: of two equal keys the second would win or lose unseen.
class Watch {
 public:
  explicit Watch(const std::string& name) : name_(name) {}

  bool operator()(int, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      keys_.emplace_back();
      if (keys_.size() > kDeepest)
        refuse_file(name_, fmt::format("is nested deeper than {}", kDeepest));
    } else if (event == Event::object_end || event == Event::array_end) {
      keys_.pop_back();
    } else if (event == Event::key) {
      const std::string& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second)
        refuse_file(name_, fmt::format("holds the key '{}' twice in one object", shown(key)));
    }
    return true;
  }

 private:
  const std::string& name_;
  std::vector<std::set<std::string>> keys_;  ///< of every object that is open
};

std::string type_of(const Json& value) {
  return value.is_number() ? "a number" : fmt::format("of type {}", value.type_name());
}

}  // namespace

struct JsonValue::File {
  std::string name;
  Json root;
};

JsonValue::JsonValue(std::shared_ptr<const File> file, const Json* value, std::string place)
    : file_(std::move(file)), value_(value), place_(std::move(place)) {}

JsonValue JsonValue::parse(std::string name, std::string_view text) {
  if (text.empty()) refuse_file(name, "is empty");
  if (!is_utf8(text)) refuse_file(name, "is not UTF-8");
  auto file = std::make_shared<File>();
  file->name = std::move(name);
  try {
    file->root = Json::parse(text, Watch(file->name));
  } catch (const Json::parse_error& error) {
    if (error.byte > text.size()) refuse_file(file->name, "is cut off: its JSON does not end");
    refuse_file(file->name, fmt::format("is not JSON at byte {} of {}", error.byte, text.size()));
  } catch (const Json::exception&) {
    refuse_file(file->name, "holds a number that no double can hold");
  }
  const Json* const root = &file->root;
  return {std::move(file), root, ""};
}

void JsonValue::refuse(std::string_view what) const {
  refuse_file(file_->name, place_.empty() ? fmt::format("as a whole {}", what)
                                          : fmt::format("at {}: {}", shown(place_), what));
}

bool JsonValue::has(std::string_view key) const {
  return value_->is_object() && value_->contains(std::string(key));
}

JsonValue JsonValue::member(const std::string& key, const Json& value) const {
  return {file_, &value, place_.empty() ? key : place_ + "." + key};
}

JsonValue JsonValue::at(std::string_view key) const {
  if (!value_->is_object()) refuse(fmt::format("is {}, not an object", type_of(*value_)));
  const std::string name(key);
  const auto found = value_->find(name);
  if (found == value_->end()) refuse(fmt::format("the key '{}' is missing", name));
  return member(name, *found);
}

std::string JsonValue::text() const {
  if (!value_->is_string()) refuse(fmt::format("is {}, not a text", type_of(*value_)));
  return value_->get<std::string>();
}

bool JsonValue::flag() const {
  if (!value_->is_boolean()) refuse(fmt::format("is {}, not true or false", type_of(*value_)));
  return value_->get<bool>();
}

std::uint64_t JsonValue::count() const {
  if (!value_->is_number_unsigned())
    refuse(fmt::format("is {}, not a whole number from 0 on",
                       value_->is_number() ? value_->dump() : type_of(*value_)));
  return value_->get<std::uint64_t>();
}

std::int64_t JsonValue::whole() const {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool fits = value_->is_number_unsigned() ? value_->get<std::uint64_t>() <= kMost
                                                 : value_->is_number_integer();
  if (!fits)
    refuse(fmt::format("is {}, not a whole number of 64 bits",
                       value_->is_number() ? value_->dump() : type_of(*value_)));
  return value_->get<std::int64_t>();
}

double JsonValue::number() const {
  if (value_->is_number()) return value_->get<double>();
  const std::string word = value_->is_string() ? value_->get<std::string>() : "";
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  refuse(value_->is_string()
             ? fmt::format("is '{}', not a number", shown(word.substr(0, kLongestWord)))
             : fmt::format("is {}, not a number", type_of(*value_)));
}

std::vector<JsonValue> JsonValue::list() const {
  if (!value_->is_array()) refuse(fmt::format("is {}, not a list", type_of(*value_)));
  std::vector<JsonValue> values;
  for (std::size_t i = 0; i < value_->size(); ++i)
    values.push_back({file_, &(*value_)[i], fmt::format("{}[{}]", place_, i)});
  return values;
}

std::vector<std::string> JsonValue::texts() const {
  std::vector<std::string> words;
  for (const JsonValue& value : list()) words.push_back(value.text());
  return words;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  if (!value_->is_object()) refuse(fmt::format("is {}, not an object", type_of(*value_)));
  std::vector<std::pair<std::string, JsonValue>> all;
  for (const auto& [key, value] : value_->items()) all.emplace_back(key, member(key, value));
  return all;
}

}  // namespace parity
