// Memory for the partial results of attention that is split, f32 whatever the output's dtype.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/argument_checks.hpp"
#include "device/device_tensor.hpp"
#include "device/runtime.hpp"

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

/// Partials and, until the merge that reads them has been started, the pool's block they lie in.
struct HeldPartials {
  Partials partials;
  WorkspaceLease lease;

  /// In the workspace `given`, or where that has no memory in the pool's for `kernel`. Throws
  /// UsageError as Partials::in does, and where `given` lies on one of `arguments`; DeviceError as
  /// the pool does.
  static HeldPartials in(Runtime& runtime, const std::string& kernel, const DeviceTensor& given,
                         std::int64_t chunks, const Shape& q,
                         const std::vector<ArgumentMemory>& arguments);
};

}  // namespace parity
