// How far streams of random numbers have been drawn from, as an engine keeps it that does not take
// the step from its caller: a carrier.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "device/carrier.hpp"
#include "device/trace.hpp"

namespace parity {

/// Any number of host threads may use it at the same time.
class RngStreams final : public Carrier {
 public:
  /// Steps that `stream` had been drawn from before; from now on `steps` more. The touch, recorded
  /// in `trace`, names the run that drew before, or this one where none did.
  std::uint64_t draw(const std::string& stream, std::uint64_t steps, Trace& trace);
  /// Steps drawn from `stream` so far; the touch is recorded in `trace`. 0, and no touch, where
  /// nothing was drawn.
  std::uint64_t position(const std::string& stream, Trace& trace);

  std::string_view name() const override { return "rng_streams"; }
  /// content: the steps drawn so far, in decimal.
  std::vector<CellState> snapshot() const override;
  void restore() override;
  void set(const std::vector<CellState>& cells) override;

 private:
  struct Stream {
    std::uint64_t drawn = 0;
    std::string writer;  ///< label of the run that drew last
  };

  mutable std::mutex mutex_;
  std::map<std::string, Stream> streams_;
};

}  // namespace parity
