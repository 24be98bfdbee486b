#include "harness/duration.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "datasets/errors.hpp"

namespace parity {

std::chrono::milliseconds parse_duration(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const std::int64_t scale = unit == "ms"  ? 1
                             : unit == "s" ? 1000
                             : unit == "m" ? 60000
                             : unit == "h" ? 3600000
                                           : 0;
  constexpr std::int64_t kLongest = 1000LL * 3600 * 24 * 365;
  if (error != std::errc() || scale == 0 || count <= 0 || count > kLongest / scale)
    throw UsageError(fmt::format("'{}' is no duration; write 250ms, 90s, 10m or 2h", text));
  return std::chrono::milliseconds(count * scale);
}

}  // namespace parity
