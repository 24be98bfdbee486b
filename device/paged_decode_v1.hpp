// Paged decode attention, version 1: one pass per (row, head group), no workspace.
#pragma once

#include <cstdint>
#include <string>

#include "device/device_tensor.hpp"
#include "device/runtime.hpp"

namespace parity {

/// A K or V pool: base pointer (in `pages.data`) and strides in elements.
struct PagePool {
  DeviceTensor pages;  ///< [num_pages, page_size, Hkv, D] where contiguous
  std::int64_t stride_page = 0;
  std::int64_t stride_slot = 0;
  std::int64_t stride_head = 0;
};

/// CSR page table; every array i32 in device memory.
struct PageTable {
  DeviceTensor indptr;             ///< [B+1]
  DeviceTensor indices;            ///< [nnz]
  DeviceTensor last_page_len;      ///< [B], 1..page_size; 0 for a row without pages
  DeviceTensor first_page_offset;  ///< [B], 0..page_size-1
};

struct PagedDecodeArgs {
  DeviceTensor q;    ///< [B, Hq, D]: f32, f16 or bf16
  PagePool k;        ///< f32, f16 or bf16, independently of v
  PagePool v;
  PageTable table;
  DeviceTensor out;  ///< [B, Hq, D] in q's dtype
  DeviceTensor lse;  ///< [B, Hq] f32, base 2
  float scale = 1.0f;       ///< multiplies q·k
  std::int64_t page_size = 0;
  std::int64_t kv_heads = 0;
  bool checked = false;     ///< also reads the page table back and validates every entry
};

/// Key of the module that these arguments need. Throws UsageError as paged_decode_v1 does.
VariantSpec paged_decode_v1_variant(Dtype q, Dtype k, Dtype v, std::int64_t head_dim,
                                    std::int64_t group_size);

/// Starts the kernel (asynchronously on a GPU). Throws UsageError naming the argument that is not
/// supported or malformed; nothing is launched then. Returns the resolved plan: "v1 bucket=4 threads=128".
/// Formula and edge rule: softmax(scale·q·k)·v per head over the row's tokens; nothing attended: out 0, lse −inf.
std::string paged_decode_v1(Runtime& runtime, const PagedDecodeArgs& args);

}  // namespace parity
