// Arguments of paged decode attention, the same for every kernel of the operation, and their
// validation.
#pragma once

#include <cstdint>
#include <vector>

#include "device/argument_checks.hpp"
#include "device/backend.hpp"
#include "device/device_tensor.hpp"

namespace parity {

/// A K or V pool: base pointer (in `pages.data`) and strides in elements.
struct PagePool {
  DeviceTensor pages;  ///< [num_pages, page_size, Hkv, D] where contiguous
  std::int64_t stride_page = 0;
  std::int64_t stride_slot = 0;
  std::int64_t stride_head = 0;

  /// Strides of a contiguous pool of that shape. Throws UsageError unless its rank is 4.
  static PagePool contiguous(const DeviceTensor& pages);
};

/// CSR page table; every array i32 in device memory.
struct PageTable {
  DeviceTensor indptr;             ///< [B+1]
  DeviceTensor indices;            ///< [nnz]
  DeviceTensor last_page_len;      ///< [B], 1..page_size; 0 for a row without pages
  DeviceTensor first_page_offset;  ///< [B], 0..page_size-1
};

struct PagedDecodeArgs {
  DeviceTensor q;  ///< [B, Hq, D]: f32, f16 or bf16
  PagePool k;      ///< f32, f16, bf16, e4m3 or e5m2, independently of v
  PagePool v;
  PageTable table;
  DeviceTensor out;      ///< [B, Hq, D] in q's dtype or f32
  DeviceTensor lse;      ///< [B, Hq] f32, base 2
  float scale = 1.0f;    ///< multiplies q·k
  float k_scale = 1.0f;  ///< of an fp8 k: likewise; 1 for any other
  float v_scale = 1.0f;  ///< of an fp8 v: multiplies the output; 1 for any other
  /// cap > 0: a score x becomes cap · tanh(x / cap) before it is exponentiated. 0: off.
  float softcap = 0.0f;
  std::int64_t window = 0;  ///< of each row only the last so many tokens are attended; 0: all
  std::int64_t page_size = 0;
  std::int64_t kv_heads = 0;
  std::int64_t tile = 4;  ///< tokens of a stream in flight: 4, or 8 where Hq/Hkv is at most 2
  bool checked = false;   ///< also reads the page table back and validates every entry
};

/// What kernels are given for scale, k_scale and softcap: a score to the base 2 is scale·(q·k), and
/// with a softcap cap·tanh(scale·(q·k)).
struct ScoreFactors {
  float scale;
  float cap;

  static ScoreFactors of(const PagedDecodeArgs& args);
};

/// Validates dtypes, shapes, strides, alignment and factors, and that no output lies on another or
/// on an input, without reading device memory. Throws UsageError naming the argument.
void check_paged_decode_args(const PagedDecodeArgs& args);

/// The same without the page table: for kernels that are given another.
void check_paged_decode_tensors(const PagedDecodeArgs& args);

/// out and lse.
std::vector<ArgumentMemory> paged_decode_output_memory(const PagedDecodeArgs& args);

/// Those, then q, k, v and the arrays of the page table: for check_apart with what else a
/// kernel is given.
std::vector<ArgumentMemory> paged_decode_memory(const PagedDecodeArgs& args);

/// A page table in host memory, arrays as in PageTable.
struct HostPageTable {
  std::vector<std::int32_t> indptr, indices, last_page_len, first_page_offset;
};

/// Waits for the device. `table` has passed check_paged_decode_args.
HostPageTable read_page_table(Backend& backend, const PageTable& table);

/// Validates every entry. `args` has passed check_paged_decode_args. Throws UsageError naming the
/// array and the row.
void check_page_table(const HostPageTable& table, const PagedDecodeArgs& args);

}  // namespace parity
