// Reading doubts every line; writing goes to a temporary name, and replaces nothing but plans.
#include "device/autotune_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"
#include "datasets/replaced_file.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

/// Opens the header of every version.
constexpr std::string_view kFamily = "parity autotune ";
constexpr std::string_view kHeader = "parity autotune 2";
/// More links than any system follows.
constexpr int kMostLinks = 64;
/// Of a reason that quotes the file.
constexpr std::size_t kMostReason = 200;

/// On one line, whatever the file holds.
std::string shown(std::string reason) {
  std::ranges::replace_if(
      reason, [](char c) { return c < ' ' || c > '~'; }, '?');
  if (reason.size() > kMostReason) reason = reason.substr(0, kMostReason) + "...";
  return reason;
}

/// What a link, or a link to one, leads to, whether it is there or not.
fs::path behind_links(fs::path file) {
  std::error_code error;
  for (int links = 0; links < kMostLinks && fs::is_symlink(fs::symlink_status(file, error));
       ++links)
    file = file.parent_path() / fs::read_symlink(file, error);
  return file;
}

/// Why what the file is, or holds, must not be taken for plans nor be replaced by them; empty where
/// it may. A pipe or a device is not opened: it might never answer.
std::string foreign(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) return {};
  if (status.type() == fs::file_type::none) return error.message();
  if (fs::is_directory(status)) return "is a folder";
  if (!fs::is_regular_file(status)) return "is no regular file";
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return "cannot be read";
  std::string head(kFamily.size(), '\0');
  stream.read(head.data(), std::ssize(head));
  if (stream.bad()) return "cannot be read";
  const bool empty = stream.gcount() == 0;
  return empty || head == kFamily ? "" : "holds something other than tuned plans";
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
  if (const std::string why = foreign(file); !why.empty())
    return {{}, {fmt::format("{}: {}, so plans are tuned again", file.string(), why)}};
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (text.empty()) return {};
  return parse_autotune_file(file, text);
}

std::string autotune_file_fault(const fs::path& file) {
  if (std::string why = foreign(file); !why.empty()) return why;
  try {
    const ReplacedFile trial(behind_links(file));
  } catch (const std::system_error& error) {
    return fmt::format("cannot be written: {}", error.code().message());
  }
  return {};
}

void write_autotune_file(const fs::path& file, const std::map<TuningKey, TunedPlan>& entries) {
  std::string text = fmt::format("{}\n", kHeader);
  for (const auto& [key, plan] : entries) {
    const std::string entry = entry_text(key, plan);
    text += fmt::format("{} {}\n", digest(entry).hex(), entry);
  }
  const auto fail = [&](const std::string& why) {
    throw DatasetError(fmt::format("tuned plans cannot be written to {}: {}; name a writable file",
                                   file.string(), why));
  };
  if (const std::string why = foreign(file); !why.empty()) fail("it " + why);
  try {
    replace_file(behind_links(file), text);
  } catch (const std::system_error& error) {
    fail(error.code().message());
  }
}

}  // namespace parity
