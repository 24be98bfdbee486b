// The process's environment variables: an ambient carrier.
#pragma once

#include <string_view>
#include <vector>

#include "device/carrier.hpp"

namespace parity {

/// A cell is a variable, its content the value. Snapshot, restore and set are for a time when no
/// other thread reads or writes variables.
class Environment final : public Carrier {
 public:
  Environment() : fresh_(read()) {}

  std::string_view name() const override { return "environment"; }
  bool ambient() const override { return true; }
  std::vector<CellState> snapshot() const override { return read(); }
  void restore() override { set(fresh_); }
  /// Throws UsageError for what is no variable's name, before anything has changed.
  void set(const std::vector<CellState>& cells) override;

 private:
  static std::vector<CellState> read();

  std::vector<CellState> fresh_;
};

}  // namespace parity
