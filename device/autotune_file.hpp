// Tuned plans as text: one entry, and a file of them. No entry is taken on trust.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/tuning_key.hpp"

namespace parity {

/// "KEY ppc=4,tile=8"
std::string entry_text(const TuningKey& key, const TunedPlan& plan);
/// Inverse of entry_text(). Throws UsageError unless the plan is one of the key's candidates.
std::pair<TuningKey, TunedPlan> parse_entry(std::string_view text);

struct AutotuneFile {
  std::map<TuningKey, TunedPlan> entries;
  std::vector<std::string> refused;  ///< one line each: file, line, reason
};

/// The text of a file opens with its format's version; each line behind it holds the digest of an
/// entry and the entry. `file` names it in reasons.
AutotuneFile parse_autotune_file(const std::filesystem::path& file, std::string_view text);

/// A missing file is an empty one; one that holds something else, or is no regular file, is
/// refused.
AutotuneFile read_autotune_file(const std::filesystem::path& file);

/// Why `file` cannot keep plans: it holds something else, is no regular file, or could not be
/// written now. Empty where it can. Leaves everything as it is.
std::string autotune_file_fault(const std::filesystem::path& file);

/// Where `file` is a link, writes what it leads to. Throws DatasetError, also where it holds
/// anything but plans; the file is then as it was.
void write_autotune_file(const std::filesystem::path& file,
                         const std::map<TuningKey, TunedPlan>& entries);

}  // namespace parity
