// Memory for the partial results of attention that is split, f32 whatever the output's dtype.
#pragma once

#include <cstdint>
#include <string_view>

#include "device/device_tensor.hpp"

namespace parity {

/// Partial results of `chunks` chunks; without memory where none are kept.
struct Partials {
  DeviceTensor out;  ///< f32 [chunks, Hq, D]
  DeviceTensor lse;  ///< f32 [chunks, Hq]

  /// Both in one workspace, for q [B, Hq, D]. It is u8 of at least `bytes` bytes, aligned to 16.
  /// Throws UsageError, in the name of `who`, where it is not.
  static Partials in(std::string_view who, const DeviceTensor& workspace, std::int64_t chunks,
                     const Shape& q);

  /// chunks · heads · (head_dim + 1) · 4
  static std::int64_t bytes(std::int64_t chunks, std::int64_t heads, std::int64_t head_dim);
};

}  // namespace parity
