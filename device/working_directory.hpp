// The process's working directory: an ambient carrier.
#pragma once

#include <string_view>
#include <vector>

#include "device/carrier.hpp"

namespace parity {

/// One cell, "path". A folder that is no longer there reads as "unreachable".
class WorkingDirectory final : public Carrier {
 public:
  WorkingDirectory() : fresh_(read()) {}

  std::string_view name() const override { return "working_directory"; }
  bool ambient() const override { return true; }
  std::vector<CellState> snapshot() const override { return read(); }
  void restore() override { set(fresh_); }
  /// Throws UsageError for a folder that cannot be entered.
  void set(const std::vector<CellState>& cells) override;

 private:
  static std::vector<CellState> read();

  std::vector<CellState> fresh_;
};

}  // namespace parity
