// The autotune memo: what tuning has chosen, by all that the choice depends on. A carrier, and
// optionally a file.
#pragma once

#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "device/carrier.hpp"
#include "device/faults.hpp"
#include "device/trace.hpp"
#include "device/tuning_clock.hpp"
#include "device/tuning_key.hpp"

namespace parity {

class AutotuneMemo final : public Carrier {
 public:
  explicit AutotuneMemo(const Faults& faults) : faults_(faults) {}

  /// Whether who asks is to bring a live clock, rather than the recorded one. Set before the first
  /// launch; false unless set.
  bool measures() const { return measures_; }
  void set_measures(bool measures) { measures_ = measures; }

  /// The candidate that takes least by `clock`, the first of equals; kept for the next request. An
  /// entry loaded from a file is taken as it is. However many threads ask, a key is tuned once, by
  /// the first of them. The touch is recorded in `trace`. Throws what the clock throws; a failure
  /// is not remembered.
  TunedPlan choose(const TuningKey& key, const TuningClock& clock, Trace& trace);

  /// Takes entries that save() wrote; a missing file has none. An entry that is damaged, of another
  /// version, for no key or not a candidate of its key is left out. Returns a line for each, naming
  /// file, line and reason: it will be tuned again. Never throws for what the file holds.
  std::vector<std::string> load(const std::filesystem::path& file);
  /// Writes every entry, loaded ones too, under a temporary name and renames it. Throws
  /// DatasetError when that fails; the file is then as it was.
  void save(const std::filesystem::path& file) const;

  std::string_view name() const override { return "autotune_memo"; }
  /// content: the key that was tuned and its plan, "KEY ppc=4,tile=8".
  std::vector<CellState> snapshot() const override;
  /// Entries of a file stay to be taken, as in a fresh process that has loaded it.
  void restore() override;
  void set(const std::vector<CellState>& cells) override;

 private:
  struct Entry {
    TuningKey built_for;
    std::string writer;
    std::shared_future<TunedPlan> plan;
  };

  TuningKey in_force(TuningKey key) const;
  TunedPlan tune(const TuningKey& key, const TuningClock& clock) const;
  std::map<TuningKey, TunedPlan> chosen() const;

  const Faults faults_;
  bool measures_ = false;
  mutable std::mutex mutex_;
  std::map<TuningKey, Entry> entries_;
  std::map<TuningKey, TunedPlan> loaded_;  ///< by the whole key whatever is planted
};

}  // namespace parity
