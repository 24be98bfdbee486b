// What tuning chooses for a paged decode that is split, and all that the choice depends on.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/dtype.hpp"
#include "device/backend.hpp"
#include "device/kernel_text.hpp"
#include "device/paged_decode_args.hpp"
#include "device/paged_decode_blocks.hpp"
#include "device/variant.hpp"

namespace parity {

struct TunedPlan {
  std::int64_t pages_per_chunk = 1;
  std::int64_t tile = 4;  ///< PagedDecodeChoice::tile

  auto operator<=>(const TunedPlan&) const = default;
  /// "ppc=4,tile=8"
  std::string canonical() const;
  /// Inverse of canonical(). Throws UsageError.
  static TunedPlan parse(std::string_view canonical);
};

/// Compared as a whole. Sizes of the page table are rounded up to powers of two, so that the next
/// token does not tune again; the choice is made for the rounded sizes. Rows are measured in slots
/// of their pages.
struct TuningKey {
  std::string kernel;                                 ///< "paged_decode_v2"
  std::vector<std::pair<std::string, Dtype>> dtypes;  ///< q, out, k, v
  std::int64_t head_dim = 0;
  std::int64_t group_size = 0;  ///< query heads of a kv head
  std::int64_t kv_heads = 0;
  std::int64_t softcap = 0;  ///< 1: on
  std::int64_t page_size = 0;
  std::int64_t window = 0;
  std::int64_t batch = 0;          ///< rows, rounded up
  std::int64_t longest_slots = 0;  ///< of one row, rounded up
  std::int64_t total_slots = 0;    ///< of all rows, rounded up
  /// Strides of the pools in elements, less those of contiguous pages [slots, kv heads, head_dim].
  std::int64_t k_page_gap = 0, k_slot_gap = 0, k_head_gap = 0;
  std::int64_t v_page_gap = 0, v_slot_gap = 0, v_head_gap = 0;
  std::int64_t multiprocessors = 0;
  std::string device;        ///< name, in letters, digits and "._+-"
  std::string architecture;  ///< likewise
  std::string driver;        ///< likewise
  std::string code;          ///< tuning_code of what may be launched

  auto operator<=>(const TuningKey&) const = default;

  /// Of checked arguments and a checked page_indptr.
  static TuningKey of(const std::string& kernel, const PagedDecodeArgs& args,
                      const std::vector<std::int32_t>& page_indptr, const DeviceIdentity& device,
                      const std::string& code);

  /// "paged_decode_v2<D=64,GROUP=2,HKV=1,PAGE=16,BATCH=4,LONGEST=64,TOTAL=128,SMS=132>
  /// (q=f16,out=f16,k=f16,v=f16)@NVIDIA_H200/sm_90a/580.82.07/<code>", without the space; what is 0
  /// is left out.
  std::string canonical() const;
  /// Inverse of canonical(). Throws UsageError for another text and for what no launch can have.
  static TuningKey parse(std::string_view canonical);

  /// The dtype of axis "q", "out", "k" or "v". Throws UsageError for a key without.
  Dtype dtype(std::string_view axis) const;
  /// What the kernel's module is compiled for, but for its tile. Throws as dtype() does.
  PagedDecodeChoice choice() const;
  /// Pages of the longest row, at least 1.
  std::int64_t longest_pages() const;
};

/// Digest, in hexadecimal digits, of the whole text of each kernel and of who compiles it how: a
/// plan says nothing of other code. What a text is opened with (dtypes, constants) is the key's
/// own.
std::string tuning_code(const std::vector<std::string>& kernels, const ToolchainIdentity& toolchain,
                        const KernelTexts& texts = kernel_texts());

/// What may be chosen for a key: every supported tile, and of chunk lengths those that cut the
/// longest row into 1, 2, 3, 4, 6, 8, 12, ... chunks. Smaller tiles first, then longer chunks;
/// never empty. Throws UsageError, naming what is not supported, where there is no module for such
/// a key.
std::vector<TunedPlan> tuning_candidates(const TuningKey& key);

}  // namespace parity
