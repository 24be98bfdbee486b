// Reading JSON that another program wrote: nothing is trusted, the first problem found is kept.
// Part of the protocol's sources; nobody else includes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace parity {

/// Keys in the order they are added, so that equal values give equal lines.
using Json = nlohmann::ordered_json;

/// The object in `line`; an empty one, and the `problem` said, where there is none.
Json parse_json_object(std::string_view line, std::string& problem);

/// {key: value}
Json object_with(const char* key, Json value);

/// On one line. Bytes that are not UTF-8 (a worker may echo anything) are replaced.
std::string dump(const Json& json);

/// Without control characters, so that it stays one line wherever it is printed.
std::string one_line(std::string_view text);

/// The start of what the other side wrote, in printable ASCII.
std::string excerpt(std::string_view line, std::size_t longest = 80);

/// The fields of one object. What is missing or of the wrong type is noted in the problem, unless
/// one is noted already, and reads as empty. Fields nobody asks for are ignored.
class Fields {
 public:
  /// Both must outlive it.
  Fields(const Json& object, std::string& problem) : object_(object), problem_(problem) {}

  std::string text(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  bool flag(const char* key) const;
  const Json& list(const char* key) const;
  /// A missing one reads as "", 0, false, 0.0 or no elements, without a problem.
  std::string optional_text(const char* key) const;
  std::int64_t optional_count(const char* key) const;
  bool optional_flag(const char* key) const;
  /// A number, or "nan", "inf", "-inf".
  double optional_number(const char* key) const;
  const Json& optional_list(const char* key) const;
  std::vector<std::string> optional_texts(const char* key) const;
  /// The object under `key`.
  Fields object(const char* key) const;

  std::string& problem() const { return problem_; }
  void complain(const char* key, std::string_view what) const;

 private:
  const Json* find(const char* key) const;
  const Json* require(const char* key) const;
  std::string text_of(const char* key, const Json& value) const;
  bool flag_of(const char* key, const Json& value) const;

  const Json& object_;
  std::string& problem_;
};

}  // namespace parity
