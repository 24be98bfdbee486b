// How many parts of a size a whole has.
#pragma once

#include <cstdint>

namespace parity {

/// ⌈whole / part⌉ for whole >= 0 and part >= 1, also near 2^63.
constexpr std::int64_t ceil_divide(std::int64_t whole, std::int64_t part) {
  return whole / part + (whole % part != 0 ? 1 : 0);
}

}  // namespace parity
