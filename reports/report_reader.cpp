// Tells by a file's content what it is, and adds it to what is joined.
#include "reports/report_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "datasets/errors.hpp"
#include "harness/shown_text.hpp"
#include "reports/schema_readers.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargest = std::size_t{256} << 20;  ///< bytes; no report comes near

[[noreturn]] void refuse(const fs::path& path, std::string_view what) {
  throw DatasetError(
      fmt::format("{} cannot be read: {}; name a file that harness or parity_bench wrote",
                  shown(path.string()), what));
}

std::string text_of(const fs::path& path) {
  if (std::error_code ignored; fs::is_directory(path, ignored)) refuse(path, "it is a folder");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse(path, std::strerror(errno));
  std::string text;
  std::string piece(std::size_t{1} << 16, '\0');
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(in.gcount()));
    if (text.size() > kLargest) refuse(path, "it is larger than 256 MiB");
  }
  if (in.bad()) refuse(path, "the read failed");
  return text;
}

/// By what it is, not by what it holds: reports of two equal machines may be equal.
void refuse_twice(const JoinedRuns& joined, const fs::path& path) {
  std::error_code ignored;
  for (const fs::path& other : joined.files)
    if (fs::equivalent(path, other, ignored))
      throw UsageError(fmt::format("{} is given twice{}; give each report once",
                                   shown(path.string()),
                                   path == other ? "" : ", as " + shown(other.string()) + " too"));
}

void add_night(JoinedRuns& joined, const Night& night, const fs::path& path) {
  if (!joined.commit.empty() && !night.commit.empty() && joined.commit != night.commit)
    throw UsageError(fmt::format("{} is of commit {}, and the others are of {}; join one commit's",
                                 shown(path.string()), shown(night.commit), shown(joined.commit)));
  if (!night.commit.empty()) joined.commit = night.commit;
  joined.steps.insert(joined.steps.end(), night.steps.begin(), night.steps.end());
}

void add(JoinedRuns& joined, const JsonValue& json, const fs::path& path) {
  if (!json.has("schema") && json.has("context") && json.has("benchmarks")) {
    std::ranges::move(read_times(json), std::back_inserter(joined.times));
    return;
  }
  const JsonValue schema = json.at("schema");
  const std::string word = schema.text();
  if (word == "parity.run/1")
    joined.runs.push_back({path.string(), read_run(json)});
  else if (word == "parity.selftest/1")
    joined.selftests.push_back({path.string(), read_selftest(json)});
  else if (word == "parity.night/1")
    add_night(joined, read_night(json), path);
  else
    schema.refuse(
        "is none of parity.run/1, parity.selftest/1, parity.night/1, which this harness reads");
}

}  // namespace

void read_into(JoinedRuns& joined, const fs::path& path) {
  refuse_twice(joined, path);
  add(joined, JsonValue::parse(path.string(), text_of(path)), path);
  joined.files.push_back(path);
}

}  // namespace parity
