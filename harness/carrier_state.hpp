// The built-in worker's text of a carrier's state: opaque to everyone else, handed out by
// `snapshot` and taken back by `set`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace parity {

/// One cell, and enough of what it was made from to make it again.
struct CarrierCell {
  std::string cell;
  std::string content;
  bool operator==(const CarrierCell&) const = default;
};

std::string carrier_state_text(const std::vector<CarrierCell>& cells);

/// Inverse of carrier_state_text. Throws UsageError.
std::vector<CarrierCell> parse_carrier_state(std::string_view text);

}  // namespace parity
