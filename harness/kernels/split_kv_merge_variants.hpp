// The modules of split_kv_merge, which kernels that split their rows launch too.
#pragma once

#include <vector>

#include "harness/kernels/launch_variant.hpp"

namespace parity {

/// All that split_kv_merge_variant does not refuse; dtypes of v, then of out.
std::vector<LaunchVariant> split_kv_merge_variants();

}  // namespace parity
