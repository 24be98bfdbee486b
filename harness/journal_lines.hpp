// The lines of a journal: JSON behind the digest of its own text, so that a damaged or cut-off line
// is noticed. Part of journal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "harness/journal.hpp"

namespace parity {

using JournalLine = std::variant<JournalHead, std::pair<Journal::Place, JournalEntry>, JournalEnd>;

/// With its newline.
std::string journal_line(const JournalHead& head);
std::string journal_line(const Journal::Place& place, const JournalEntry& entry);
std::string journal_line(const JournalEnd& end);

/// Inverse, of a line without its newline; nothing for what is no sound line.
std::optional<JournalLine> parse_journal_line(std::string_view line);

/// What tells sequences apart: steps, poison and threads.
Digest digest_of(const Sequence& sequence);

}  // namespace parity
