// One value of a JSON file and where it stands there: what is not as it must be is refused by its
// place.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parity {

/// Cheap to copy; the parsed file lives as long as any value of it. Every member that finds another
/// type, and `at` where there is no such key, throws DatasetError: the file, the place
/// ("cases[3].verdict"), what is wrong, what to do.
class JsonValue {
 public:
  /// Parses a whole file. `name` is what messages call it. Throws DatasetError for text that is not
  /// UTF-8 or not JSON, for a key that an object holds twice, and for what is nested too deep.
  static JsonValue parse(std::string name, std::string_view text);

  bool has(std::string_view key) const;
  JsonValue at(std::string_view key) const;

  std::string text() const;
  bool flag() const;
  std::uint64_t count() const;  ///< a whole number from 0 on
  std::int64_t whole() const;
  double number() const;  ///< or "nan", "inf", "-inf"
  std::vector<JsonValue> list() const;
  std::vector<std::string> texts() const;
  std::vector<std::pair<std::string, JsonValue>> members() const;  ///< in the file's order

  [[noreturn]] void refuse(std::string_view what) const;

 private:
  struct File;
  JsonValue(std::shared_ptr<const File> file, const nlohmann::ordered_json* value,
            std::string place);
  JsonValue member(const std::string& key, const nlohmann::ordered_json& value) const;

  std::shared_ptr<const File> file_;
  const nlohmann::ordered_json* value_;
  std::string place_;  ///< empty: the whole file
};

}  // namespace parity
