// Process state that outlives a launch, seen from outside: what a probe can read, restore and set.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace parity {

/// One entry of a carrier. `content` says what the entry was made from, enough to make it again.
struct CellState {
  std::string cell;
  std::string content;

  bool operator==(const CellState&) const = default;
};

class Carrier {
 public:
  virtual ~Carrier() = default;
  /// "module_cache"
  virtual std::string_view name() const = 0;
  /// Whether anything may read it at any time, so that no Trace says who did: such a carrier is
  /// watched between runs instead. The host thread that asks is the one whose state is meant, where
  /// each has its own.
  virtual bool ambient() const { return false; }
  /// Whether set() can do anything.
  virtual bool settable() const { return true; }
  /// All cells, ordered by cell.
  virtual std::vector<CellState> snapshot() const = 0;
  /// Back to the state of a fresh process; of an ambient carrier: to what it held when it was made.
  virtual void restore() = 0;
  /// Makes exactly these cells. Throws UsageError for content that cannot be made.
  virtual void set(const std::vector<CellState>& cells) = 0;
};

}  // namespace parity
