// How paged decode kernels cut their work into blocks and what they are given: the same for every
// kernel of the operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/kernels/paged_decode_params.cuh"
#include "device/paged_decode_args.hpp"
#include "device/split_rows.hpp"
#include "device/variant.hpp"

namespace parity {

/// Query heads of a kv head, cut into blocks of a compile-time size.
struct HeadBlocks {
  std::int64_t group = 0;   ///< query heads of a kv head
  std::int64_t bucket = 0;  ///< those that one block computes together: 1, 2, 4 or 8
  std::int64_t chunks = 0;  ///< blocks over one kv head's query heads

  static HeadBlocks of(std::int64_t group);
};

/// All that the module of a paged decode kernel is compiled for.
struct PagedDecodeChoice {
  Dtype q, out, k, v;
  std::int64_t head_dim;
  std::int64_t group_size;  ///< query heads of a kv head
  bool softcap = false;
  std::int64_t tile = 4;  ///< tokens of a stream in flight: 4, or 8 where group_size is at most 2

  static PagedDecodeChoice of(const PagedDecodeArgs& args);
};

/// The tiles that modules have where a kv head has so many query heads, the smallest first.
std::vector<std::int64_t> paged_decode_tiles(std::int64_t group_size);

/// Key of the module of `kernel`. Throws UsageError naming the argument that is not supported.
VariantSpec paged_decode_variant(const std::string& kernel, const PagedDecodeChoice& choice);

/// Blocks of that module which a multiprocessor of DeviceIdentity::architecture holds at once.
std::int64_t paged_decode_blocks_at_once(const PagedDecodeChoice& choice,
                                         std::string_view architecture);

/// What the choice of pages_per_chunk for that module depends on.
SplitDevice split_device(const Backend& backend, const PagedDecodeChoice& choice);

/// A grid of `chunks` · kv heads · head chunks blocks. Throws UsageError beyond 2^31 - 1.
std::uint32_t paged_decode_grid(const std::string& kernel, const PagedDecodeArgs& args,
                                std::int64_t chunks);

/// Parameters from checked arguments; `score_factor` multiplies the scores.
PagedDecodeParams paged_decode_params(const PagedDecodeArgs& args, float score_factor);

/// Launch::words of parameters that begin with PagedDecodeParams:
/// "page=16 kv_heads=2 group=4 window=0 k=2048,128,64 v=2048,128,64", the strides of a pool's
/// pages, slots and heads.
std::string paged_decode_words(std::span<const std::byte> params);

}  // namespace parity
