// The journal's file: appended to a line at a time, cut back to its last sound line.
#include "harness/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "datasets/errors.hpp"
#include "harness/journal_lines.hpp"

namespace parity {
namespace {

/// Calls `visit` with each sound line up to the first that is not, and returns their bytes.
template <typename Visit>
std::size_t visit_lines(const std::string& text, const Visit& visit) {
  std::size_t sound = 0;
  for (std::size_t newline; (newline = text.find('\n', sound)) != std::string::npos;) {
    auto line = parse_journal_line(std::string_view(text).substr(sound, newline - sound));
    // The head comes first, and no second one.
    if (!line || std::holds_alternative<JournalHead>(*line) != (sound == 0)) break;
    visit(std::move(*line));
    sound = newline + 1;
  }
  return sound;
}

std::optional<JournalEnd> end_in(const JournalLine& line) {
  const auto* end = std::get_if<JournalEnd>(&line);
  return end == nullptr ? std::nullopt : std::optional(*end);
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

Journal::Journal(std::filesystem::path path, const JournalHead& head, Complain complain)
    : path_(std::move(path)), complain_(std::move(complain)), head_(head) {
  file_ =
      Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (file_.number() < 0) complain(std::strerror(errno));
  write(journal_line(head_));
}

Journal::Journal(std::filesystem::path path, Complain complain)
    : path_(std::move(path)), complain_(std::move(complain)) {
  file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  sound_bytes_ = visit_lines(read_text(path_), [this](JournalLine line) {
    ended_ = end_in(line);
    if (auto* head = std::get_if<JournalHead>(&line)) head_ = std::move(*head);
    using Entry = std::pair<Place, JournalEntry>;
    // The later: a sequence whose outputs were lost ran again.
    if (auto* entry = std::get_if<Entry>(&line))
      entries_.insert_or_assign(entry->first, std::move(entry->second));
  });
  if (file_.number() >= 0 && sound_bytes_ > 0 &&
      ftruncate(file_.number(), static_cast<off_t>(sound_bytes_)) == 0)
    return;
  throw DatasetError(fmt::format("the journal {} cannot be gone on with: {}; start the run anew",
                                 path_.string(),
                                 sound_bytes_ == 0 ? "no sound head" : std::strerror(errno)));
}

Journal::Place Journal::next(const Sequence& sequence) {
  const Digest asked_for = digest_of(sequence);
  return {asked_for, asked_[asked_for]++};
}

std::optional<JournalEntry> Journal::take(const Place& place) {
  auto node = entries_.extract(place);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

void Journal::append(const Place& place, const JournalEntry& entry) {
  write(journal_line(place, entry));
  ended_.reset();
}

void Journal::end(const JournalEnd& end) {
  if (ended_ != end) write(journal_line(end));
  ended_ = end;
}

/// One write a line: a killed process leaves whole lines, a full disk at most a cut one, which is
/// taken back at once.
void Journal::write(const std::string& line) {
  if (file_.number() < 0) return;
  const ssize_t written = ::write(file_.number(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) {
    sound_bytes_ += line.size();
    return;
  }
  const char* why = written < 0 ? std::strerror(errno) : "no space left";
  const bool cut_back = ftruncate(file_.number(), static_cast<off_t>(sound_bytes_)) == 0;
  if (!cut_back) file_.reset();  // What follows a damaged line would not be read.
  complain(why);
}

void Journal::complain(const std::string& why) {
  if (!std::exchange(complained_, true))
    complain_(fmt::format("cannot write the journal {} ({}): --resume will run again what it lacks",
                          path_.string(), why));
}

std::optional<JournalState> read_journal_state(const std::filesystem::path& path) {
  JournalState state;
  const std::size_t sound = visit_lines(read_text(path), [&state](JournalLine line) {
    state.ended = end_in(line);
    if (auto* head = std::get_if<JournalHead>(&line)) state.head = std::move(*head);
  });
  if (sound == 0) return std::nullopt;
  return state;
}

}  // namespace parity
