// Graphs of recorded launches, by all that was recorded: a carrier.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "device/carrier.hpp"
#include "device/faults.hpp"
#include "device/trace.hpp"
#include "device/variant.hpp"

namespace parity {

/// What a graph is made of, launch by launch, and so its key: module, shape and every byte of the
/// parameters, pointers and scalars alike. A graph can therefore be replayed for nothing else.
struct RecordedLaunches {
  std::vector<VariantSpec> variants;
  std::vector<PreparedLaunch> launches;
  std::vector<std::string> words;  ///< for people; no address stands in them

  auto operator<=>(const RecordedLaunches&) const = default;

  void add(const VariantSpec& variant, PreparedLaunch launch, const std::string& params_words);
  /// "paged_decode_v1<D=64>(q=f16) grid=10x1x1 block=128 page=16", joined by " + ".
  std::string canonical() const;
  /// The same without the variants.
  std::string words_text() const;
};

/// Any number of host threads may use it at the same time. It holds a graph for every set of
/// buffers that it was used with, and their modules, until it is restored.
class GraphCache final : public Carrier {
 public:
  /// The backend must outlive it.
  GraphCache(Backend& backend, const Faults& faults) : backend_(backend), faults_(faults) {}

  /// Starts the launches as one graph, captured at first use; nothing where there are none. All
  /// that they use must be as it was when they were recorded, until they have ended. The touch is
  /// recorded in `trace`. Throws DeviceError; a failure to capture is not remembered.
  void replay(const RecordedLaunches& recorded, Trace& trace);

  std::string_view name() const override { return "graph_cache"; }
  bool settable() const override { return false; }
  /// A cell a graph; those of one cell differ in their buffers alone. content: what was captured.
  std::vector<CellState> snapshot() const override;
  void restore() override;
  /// Throws UsageError: a graph cannot be made without the buffers that it runs on.
  void set(const std::vector<CellState>& cells) override;

 private:
  struct Entry {
    RecordedLaunches built_for;  ///< keeps the modules
    std::string writer;
    std::unique_ptr<Graph> graph;
    std::mutex replaying;
  };

  RecordedLaunches in_force(RecordedLaunches recorded) const;

  Backend& backend_;
  const Faults faults_;
  mutable std::mutex mutex_;
  std::map<RecordedLaunches, std::shared_ptr<Entry>> entries_;
};

}  // namespace parity
