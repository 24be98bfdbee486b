// Durations as people type them.
#pragma once

#include <chrono>
#include <string_view>

namespace parity {

/// "90s", "10m", "2h", "250ms". Throws UsageError.
std::chrono::milliseconds parse_duration(std::string_view text);

}  // namespace parity
