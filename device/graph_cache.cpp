// The graph cache. Its map is locked while a graph is captured, so that each is captured once.
#include "device/graph_cache.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr std::string_view kThen = " + ";

std::string words_of(const LaunchShape& shape, const std::string& params_words) {
  std::string text = fmt::format("grid={}x{}x{} block={}", shape.grid.x, shape.grid.y, shape.grid.z,
                                 shape.block.x);
  if (shape.shared_bytes > 0) text += fmt::format(" shared={}", shape.shared_bytes);
  if (!params_words.empty()) text += " " + params_words;
  return text;
}

}  // namespace

void RecordedLaunches::add(const VariantSpec& variant, PreparedLaunch launch,
                           const std::string& params_words) {
  variants.push_back(variant);
  words.push_back(words_of(launch.shape, params_words));
  launches.push_back(std::move(launch));
}

std::string RecordedLaunches::canonical() const {
  std::vector<std::string> each;
  for (std::size_t i = 0; i < variants.size(); ++i)
    each.push_back(variants[i].canonical() + (i < words.size() ? " " + words[i] : ""));
  return fmt::format("{}", fmt::join(each, kThen));
}

std::string RecordedLaunches::words_text() const {
  return fmt::format("{}", fmt::join(words, kThen));
}

/// The plant drops all but the variants here, and nowhere else.
RecordedLaunches GraphCache::in_force(RecordedLaunches recorded) const {
  if (faults_.graph_without_shape) return {std::move(recorded.variants), {}, {}};
  return recorded;
}

void GraphCache::replay(const RecordedLaunches& recorded, Trace& trace) {
  if (recorded.launches.empty()) return;
  const RecordedLaunches held = in_force(recorded);
  std::shared_ptr<Entry> entry;
  bool wrote = false;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(held);
    wrote = found == entries_.end();
    if (wrote) {
      entry = std::make_shared<Entry>();
      entry->built_for = recorded;
      entry->writer = trace.label();
      entry->graph = backend_.capture(recorded.launches);
      entries_.emplace(held, entry);
    } else {
      entry = found->second;
    }
  }
  const std::string built_for = entry->built_for.words_text();
  std::string used_for = recorded.words_text();
  if (used_for == built_for && recorded != entry->built_for) used_for += " on other buffers";
  trace.add({std::string(name()), held.canonical(), wrote, built_for, std::move(used_for),
             entry->writer});
  const std::scoped_lock lock(entry->replaying);
  entry->graph->replay();
}

std::vector<CellState> GraphCache::snapshot() const {
  std::vector<CellState> cells;
  const std::scoped_lock lock(mutex_);
  for (const auto& [held, entry] : entries_)
    cells.push_back({held.canonical(), entry->built_for.canonical()});
  // The map's order is that of addresses.
  std::ranges::sort(cells, {}, [](const CellState& cell) {
    return std::pair<const std::string&, const std::string&>(cell.cell, cell.content);
  });
  return cells;
}

void GraphCache::restore() {
  backend_.synchronize();  // A graph in use must not go, nor its modules.
  const std::scoped_lock lock(mutex_);
  entries_.clear();
}

void GraphCache::set(const std::vector<CellState>&) {
  throw UsageError(
      "graph_cache cannot be set: a graph holds the addresses of its buffers, which no text gives "
      "back; only a launch that is recorded makes one");
}

}  // namespace parity
