// The process's working directory: an ambient carrier.
#pragma once

#include <string_view>
#include <vector>

#include "device/carrier.hpp"

namespace parity {

/// One cell, "path". A folder that is no longer there reads as "unreachable", which is no path:
/// paths are absolute.
class WorkingDirectory final : public Carrier {
 public:
  WorkingDirectory();
  ~WorkingDirectory() override;
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;

  std::string_view name() const override { return "working_directory"; }
  bool ambient() const override { return true; }
  std::vector<CellState> snapshot() const override { return read(); }
  void restore() override;
  /// Throws UsageError for a folder that cannot be entered, or that has no path.
  void set(const std::vector<CellState>& cells) override;

 private:
  static std::vector<CellState> read();

  std::vector<CellState> fresh_;
  int gone_ = -1;  ///< the start folder, where it has no path to come back by
};

}  // namespace parity
