// What a run has seen so far, on disk: one line for each sequence that ended, so that a run that
// was cut off goes on where it stood.
#pragma once

#include <compare>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datasets/digest.hpp"
#include "harness/child_process.hpp"
#include "harness/outcome.hpp"

namespace parity {

/// What the run is: with other words here, its results would be another run's.
struct JournalHead {
  std::vector<std::string> arguments;  ///< as typed, the program first
  std::string folder;                  ///< the working folder they were typed in
  std::string build;
  std::string pack;  ///< file name; holds the digest of cases and build
  std::string worker;
  std::string backend;
  std::string device_name;
  std::string device_arch;
  std::string device_driver;
  bool operator==(const JournalHead&) const = default;
};

struct JournalEntry {
  SequenceResult result;
  std::string bad_end;  ///< Supervisor::bad_end() of its worker
};

/// Where nothing was left to run but what a larger budget would add.
struct JournalEnd {
  bool budget = false;  ///< there was one, for random orders to fill
  /// Only its end kept more of them from running.
  bool out_of_time = false;
  std::size_t random_batches = 0;  ///< ScheduleRun's

  bool operator==(const JournalEnd&) const = default;
};

/// A deterministic run asks for the same sequences in the same order, so that "the n-th time that
/// this sequence is asked for" names a result, however the run was cut. Not for several threads at
/// once.
class Journal {
 public:
  /// For the person, one line: it could not be written.
  using Complain = std::function<void(const std::string&)>;

  struct Place {
    Digest sequence;
    std::size_t ask = 0;
    auto operator<=>(const Place&) const = default;
  };

  /// Begins a new one, in place of what was there. A disk that takes no more costs a complaint,
  /// once, and what is not in the journal runs again after a cut.
  Journal(std::filesystem::path path, const JournalHead& head, Complain complain);
  /// Goes on with one that is there. A line that was cut off, or is damaged, is dropped with all
  /// that follows. Throws DatasetError when it cannot be opened or has no sound head.
  Journal(std::filesystem::path path, Complain complain);

  const JournalHead& head() const { return head_; }

  /// Counts what is asked for.
  Place next(const Sequence& sequence);
  /// Its result, if the journal held it; each is given out once.
  std::optional<JournalEntry> take(const Place& place);
  void append(const Place& place, const JournalEntry& entry);

  /// Nothing is left to run.
  void end(const JournalEnd& end);
  /// How, where the last line says so.
  const std::optional<JournalEnd>& ended() const { return ended_; }

 private:
  void write(const std::string& line);
  void complain(const std::string& why);

  std::filesystem::path path_;
  Complain complain_;
  JournalHead head_;
  std::map<Place, JournalEntry> entries_;
  std::map<Digest, std::size_t> asked_;
  std::optional<JournalEnd> ended_;
  bool complained_ = false;
  std::size_t sound_bytes_ = 0;
  Descriptor file_;
};

/// Head and state of a journal, without its entries; nothing where there is no sound one.
struct JournalState {
  JournalHead head;
  std::optional<JournalEnd> ended;
};
std::optional<JournalState> read_journal_state(const std::filesystem::path& path);

}  // namespace parity
