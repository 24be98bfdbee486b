// Tells by a file's content what it is, and adds it to what is joined.
#include "reports/report_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "datasets/errors.hpp"
#include "harness/shown_text.hpp"
#include "reports/report.hpp"
#include "reports/schema_readers.hpp"
#include "reports/selftest_writer.hpp"

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

[[noreturn]] void refuse_again(const fs::path& path, const std::string& source) {
  throw UsageError(fmt::format("{} holds what {} holds; give each report once",
                               shown(path.string()),
                               source.empty() ? "another file" : shown(source)));
}

std::string written(const RunReport& report) {
  std::ostringstream text;
  make_json_writer()->write(report, text);
  return text.str();
}

void add_run(JoinedRuns& joined, RunReport report, const fs::path& path) {
  const std::string text = written(report);
  for (const ReportedRun& other : joined.runs)
    if (written(other.report) == text) refuse_again(path, other.source);
  joined.runs.push_back({path.string(), std::move(report)});
}

void add_selftest(JoinedRuns& joined, SelftestReport report, const fs::path& path) {
  const std::string text = selftest_json(report);
  for (const ReportedSelftest& other : joined.selftests)
    if (selftest_json(other.report) == text) refuse_again(path, other.source);
  joined.selftests.push_back({path.string(), std::move(report)});
}

void add_night(JoinedRuns& joined, const Night& night, const fs::path& path) {
  const auto same = [](const ReportedStep& a, const ReportedStep& b) {
    return a.name == b.name && a.command == b.command && a.exit_code == b.exit_code &&
           a.said == b.said;
  };
  if (!night.steps.empty() && !std::ranges::search(joined.steps, night.steps, same).empty())
    refuse_again(path, "");
  if (!joined.commit.empty() && !night.commit.empty() && joined.commit != night.commit)
    throw UsageError(fmt::format("{} is of commit {}, and the others are of {}; join one commit's",
                                 shown(path.string()), shown(night.commit), shown(joined.commit)));
  if (!night.commit.empty()) joined.commit = night.commit;
  joined.steps.insert(joined.steps.end(), night.steps.begin(), night.steps.end());
}

void add_times(JoinedRuns& joined, const std::vector<KernelTime>& times, const fs::path& path) {
  const auto same = [](const KernelTime& a, const KernelTime& b) {
    return a.benchmark == b.benchmark && a.nanoseconds == b.nanoseconds &&
           a.of_ceiling == b.of_ceiling;
  };
  if (!std::ranges::search(joined.times, times, same).empty()) refuse_again(path, "");
  joined.times.insert(joined.times.end(), times.begin(), times.end());
}

}  // namespace

void read_into(JoinedRuns& joined, const fs::path& path) {
  const JsonValue json = JsonValue::parse(path.string(), text_of(path));
  if (!json.has("schema") && json.has("context") && json.has("benchmarks"))
    return add_times(joined, read_times(json), path);
  const JsonValue schema = json.at("schema");
  const std::string word = schema.text();
  if (word == "parity.run/1") return add_run(joined, read_run(json), path);
  if (word == "parity.selftest/1") return add_selftest(joined, read_selftest(json), path);
  if (word == "parity.night/1") return add_night(joined, read_night(json), path);
  schema.refuse(
      "is none of parity.run/1, parity.selftest/1, parity.night/1, which this harness reads");
}

}  // namespace parity
