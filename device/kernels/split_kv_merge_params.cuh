// The parameter struct of split_kv_merge, the same for host code and kernel text.
#pragma once

namespace parity {

constexpr unsigned kSplitKvMergeThreads = 128;

struct SplitKvMergeParams {
  const void* v;        // [N, H, D]
  const float* lse;     // [N, H], base 2
  const int* o_indptr;  // [M+1]
  void* out;            // [M, H, D]
  float* lse_out;       // [M, H]
  unsigned heads;
};

}  // namespace parity
