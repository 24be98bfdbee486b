// How far streams of random numbers have been drawn from, as an engine keeps it that does not get
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
  /// Steps that were drawn from `stream` so far; from now on `steps` more. A stream that nobody has
  /// drawn from stands at 0. Both are recorded in `trace`, as one touch: who drew from it last.
  std::uint64_t advance(const std::string& stream, std::uint64_t steps, Trace& trace);

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
