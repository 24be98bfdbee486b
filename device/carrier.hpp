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
  /// All cells, ordered by cell.
  virtual std::vector<CellState> snapshot() const = 0;
  /// Back to the state of a fresh process.
  virtual void restore() = 0;
  /// Makes exactly these cells. Throws UsageError for content that cannot be made.
  virtual void set(const std::vector<CellState>& cells) = 0;
};

}  // namespace parity
