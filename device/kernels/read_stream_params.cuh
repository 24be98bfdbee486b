// The parameter struct of read_stream, the same for host code and kernel text.
#pragma once

namespace parity {

struct ReadStreamParams {
  const void* input;         // aligned to 16 bytes
  unsigned* sums;            // [blocks]
  unsigned long long words;  // of 16 bytes
};

}  // namespace parity
