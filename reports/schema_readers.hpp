// From parsed files to plain values, one schema each. Part of the report reader's sources; nobody
// else includes it.
#pragma once

#include <fmt/format.h>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/joined_runs.hpp"
#include "reports/json_value.hpp"

namespace parity {

struct Night {
  std::string commit;
  std::vector<ReportedStep> steps;
};

// Each throws DatasetError for what is not to the letter of its schema.
RunReport read_run(const JsonValue& json);
SelftestReport read_selftest(const JsonValue& json);
Night read_night(const JsonValue& json);
/// Of Google Benchmark's JSON. Benches that measure no kernel against the ceiling are left out.
std::vector<KernelTime> read_times(const JsonValue& json);

/// The value of an enum of whose values `last` is the last and that name() spells.
template <typename Word>
Word word_of(const JsonValue& json, Word last) {
  const std::string text = json.text();
  std::string known;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i) {
    const std::string_view word = name(static_cast<Word>(i));
    if (word == text) return static_cast<Word>(i);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", word);
  }
  json.refuse("is none of " + known);
}

}  // namespace parity
