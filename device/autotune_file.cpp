// Reading doubts every line; writing goes to a temporary name.
#include "device/autotune_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"
#include "device/replaced_file.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeader = "parity autotune 1";
/// Of a reason that quotes the file.
constexpr std::size_t kMostReason = 200;

/// On one line, whatever the file holds.
std::string shown(std::string reason) {
  std::ranges::replace_if(
      reason, [](char c) { return c < ' ' || c > '~'; }, '?');
  if (reason.size() > kMostReason) reason = reason.substr(0, kMostReason) + "...";
  return reason;
}

/// The entry behind the line's digest. Throws UsageError.
std::pair<TuningKey, TunedPlan> checked_entry(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == line.npos) throw UsageError("it is no entry");
  const std::string_view text = line.substr(space + 1);
  if (digest(text).hex() != line.substr(0, space)) throw UsageError("its checksum is wrong");
  return parse_entry(text);
}

}  // namespace

std::string entry_text(const TuningKey& key, const TunedPlan& plan) {
  return fmt::format("{} {}", key.canonical(), plan.canonical());
}

std::pair<TuningKey, TunedPlan> parse_entry(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == text.npos)
    throw UsageError(fmt::format("'{}' is no tuned entry; it is KEY ppc=4,tile=8", text));
  std::pair entry{TuningKey::parse(text.substr(0, space)),
                  TunedPlan::parse(text.substr(space + 1))};
  const std::vector<TunedPlan> candidates = tuning_candidates(entry.first);
  if (std::ranges::find(candidates, entry.second) == candidates.end())
    throw UsageError(
        fmt::format("'{}' is no plan for '{}'", entry.second.canonical(), entry.first.canonical()));
  return entry;
}

AutotuneFile parse_autotune_file(const fs::path& file, std::string_view text) {
  AutotuneFile read;
  const std::string_view header = text.substr(0, text.find('\n'));
  if (header != kHeader || header.size() == text.size()) {
    read.refused.push_back(
        fmt::format("{}:1: is not '{}', so its entries are tuned again", file.string(), kHeader));
    return read;
  }
  text.remove_prefix(header.size() + 1);
  for (std::size_t line = 2; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    try {
      if (end == text.npos) throw UsageError("it is cut off");
      const auto [key, plan] = checked_entry(text.substr(0, end));
      read.entries.insert_or_assign(key, plan);
    } catch (const UsageError& error) {
      read.refused.push_back(fmt::format("{}:{}: entry refused and tuned again: {}", file.string(),
                                         line, shown(error.what())));
    }
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return read;
}

AutotuneFile read_autotune_file(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error) && !error) return {};
  std::ifstream stream(file, std::ios::binary);
  if (!stream || fs::is_directory(file, error))
    return {{}, {fmt::format("{}: cannot be read, so its entries are tuned again", file.string())}};
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return parse_autotune_file(file, text);
}

void write_autotune_file(const fs::path& file, const std::map<TuningKey, TunedPlan>& entries) {
  std::string text = fmt::format("{}\n", kHeader);
  for (const auto& [key, plan] : entries) {
    const std::string entry = entry_text(key, plan);
    text += fmt::format("{} {}\n", digest(entry).hex(), entry);
  }
  try {
    replace_file(file, text);
  } catch (const std::system_error& error) {
    throw DatasetError(fmt::format("tuned plans cannot be written to {}: {}; name a writable file",
                                   file.string(), error.code().message()));
  }
}

}  // namespace parity
