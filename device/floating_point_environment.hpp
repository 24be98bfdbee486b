// The calling thread's floating-point mode: an ambient carrier.
#pragma once

#include <string_view>
#include <vector>

#include "device/carrier.hpp"

namespace parity {

/// "rounding_mode" (nearest, down, up, zero), and on x86-64 "mxcsr" (its control bits but the
/// rounding, in hexadecimal, with the words ftz and daz where denormals are flushed) and
/// "x87_control_word". The sticky exception flags are left out and left alone: any arithmetic moves
/// them. A host thread that starts inherits all of it, and takes its own changes along when it
/// ends.
class FloatingPointEnvironment final : public Carrier {
 public:
  FloatingPointEnvironment() : fresh_(read()) {}

  std::string_view name() const override { return "floating_point_environment"; }
  bool ambient() const override { return true; }
  std::vector<CellState> snapshot() const override { return read(); }
  void restore() override { set(fresh_); }
  /// Takes exactly the cells of a snapshot. Throws UsageError, before anything has changed.
  void set(const std::vector<CellState>& cells) override;

 private:
  static std::vector<CellState> read();

  std::vector<CellState> fresh_;
};

}  // namespace parity
