// The memo in the process. A promise stands in the map before its key is tuned, so that whoever
// asks meanwhile waits for it.
#include "device/autotune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "datasets/errors.hpp"
#include "device/autotune_file.hpp"
#include "device/variant.hpp"

namespace parity {
namespace {

/// What of a key tells people which launch it was.
std::string words_of(const TuningKey& key) {
  return fmt::format("{},page={}", VariantSpec{"", {}, key.dtypes}.dtype_text(), key.page_size);
}

}  // namespace

/// The plants drop a part of the key here, and nowhere else.
TuningKey AutotuneMemo::in_force(TuningKey key) const {
  if (faults_.memo_without_dtype) key.dtypes.clear();
  if (faults_.memo_without_page_size) key.page_size = 0;
  return key;
}

TunedPlan AutotuneMemo::choose(const TuningKey& key, const TuningClock& clock, Trace& trace) {
  const TuningKey held = in_force(key);
  std::promise<TunedPlan> promise;
  Entry entry;
  bool wrote = false;
  {
    const std::scoped_lock lock(mutex_);
    const auto [at, added] = entries_.try_emplace(held);
    wrote = added;
    if (added) at->second = {key, trace.label(), promise.get_future().share()};
    entry = at->second;
  }
  if (wrote) {
    try {
      promise.set_value(tune(key, clock));
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      entries_.erase(held);  // The next request tries again.
      promise.set_exception(std::current_exception());
    }
  }
  trace.add({std::string(name()), held.canonical(), wrote, words_of(entry.built_for), words_of(key),
             entry.writer});
  return entry.plan.get();
}

TunedPlan AutotuneMemo::tune(const TuningKey& key, const TuningClock& clock) const {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = loaded_.find(key); known != loaded_.end()) return known->second;
  }
  std::optional<TunedPlan> best;
  double least = 0;
  for (const TunedPlan& plan : tuning_candidates(key)) {
    const double time = clock.time(key, plan);
    if (best && !(time < least)) continue;
    best = plan;
    least = time;
  }
  return best.value();  // A key without candidates is refused above.
}

std::map<TuningKey, TunedPlan> AutotuneMemo::chosen() const {
  const std::scoped_lock lock(mutex_);
  std::map<TuningKey, TunedPlan> plans = loaded_;
  for (const auto& [held, entry] : entries_)
    if (entry.plan.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
      plans.insert_or_assign(entry.built_for, entry.plan.get());
  return plans;
}

std::vector<std::string> AutotuneMemo::load(const std::filesystem::path& file) {
  AutotuneFile read = read_autotune_file(file);
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, plan] : read.entries) loaded_.insert_or_assign(key, plan);
  return std::move(read.refused);
}

void AutotuneMemo::save(const std::filesystem::path& file) const {
  write_autotune_file(file, chosen());
}

std::vector<CellState> AutotuneMemo::snapshot() const {
  std::vector<CellState> cells;
  const std::scoped_lock lock(mutex_);
  for (const auto& [held, entry] : entries_)
    if (entry.plan.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
      cells.push_back({held.canonical(), entry_text(entry.built_for, entry.plan.get())});
  std::ranges::sort(cells, {}, &CellState::cell);
  return cells;
}

void AutotuneMemo::restore() {
  const std::scoped_lock lock(mutex_);
  entries_.clear();
}

void AutotuneMemo::set(const std::vector<CellState>& cells) {
  std::map<TuningKey, Entry> made;
  for (const auto& [cell, content] : cells) {
    const auto [key, plan] = parse_entry(content);
    const TuningKey held = in_force(key);
    if (held.canonical() != cell)
      throw UsageError(fmt::format("cell '{}' cannot be made from '{}', which makes cell '{}'",
                                   cell, content, held.canonical()));
    std::promise<TunedPlan> promise;
    promise.set_value(plan);
    made.insert_or_assign(held, Entry{key, {}, promise.get_future().share()});
  }
  const std::scoped_lock lock(mutex_);
  entries_ = std::move(made);
}

}  // namespace parity
