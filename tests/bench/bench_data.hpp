// Inputs of kernel benches in device memory: as many equal copies as it takes for none to be still
// in a cache when its turn comes again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/device_buffer.hpp"
#include "device/paged_decode_args.hpp"
#include "device/split_kv_merge.hpp"

namespace parity {

/// Fills a floating tensor with finite values close to standard normal. They repeat every 131,071
/// elements, a prime, so that no two tokens of a row are alike.
void fill_pattern(Backend& backend, const DeviceTensor& tensor);
/// `value` of them instead, rounded to the dtype.
void fill_pattern(Backend& backend, const DeviceTensor& tensor, double (*value)(double normal));

/// Throws DeviceError when an element of a floating tensor is not finite, or all are zero: what a
/// kernel leaves that did not do its work. Waits for the device.
void require_plausible(Backend& backend, const std::string& name, const DeviceTensor& tensor);

/// A paged decode problem: rows of equal length, q and out in bf16.
struct DecodeShape {
  std::int64_t rows = 0;
  std::int64_t tokens = 0;  ///< of each row
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t page_size = 16;
  Dtype pool = Dtype::bf16;  ///< of k and v
  std::int64_t tile = 4;     ///< PagedDecodeArgs::tile

  bool operator==(const DecodeShape&) const = default;

  /// "rows:8/tokens:16384/heads:32/kv_heads:8", and pool and tile where they are not as above:
  /// "/pool:e4m3/tile:8"
  std::string name() const;
  std::int64_t pages_of_row() const { return (tokens + page_size - 1) / page_size; }
  /// Attended k and v, q, page table, out and lse, each once: what no kernel can do without.
  std::size_t bytes() const;
};

class DecodeData {
 public:
  /// At least two copies of the problem and at least `least_bytes` of k and v. The pages of all
  /// copies lie shuffled in one pool. Throws DeviceError when there is no room.
  DecodeData(Backend& backend, const DecodeShape& shape, std::size_t least_bytes);

  const DecodeShape& shape() const { return shape_; }
  std::size_t copies() const { return copies_; }
  /// Every copy has the same page_indptr, so one plan serves all.
  PagedDecodeArgs args(std::size_t copy) const;
  HostPageTable table(std::size_t copy) const;

 private:
  DecodeShape shape_;
  std::size_t copies_;
  std::vector<std::int32_t> indptr_, indices_, last_page_len_, first_page_offset_;
  DeviceBuffer k_, v_, q_, out_, lse_;
  DeviceBuffer device_indptr_, device_indices_, device_last_page_len_, device_first_page_offset_;
};

class MergeData {
 public:
  /// Partials f32 of `heads` · `head_dim`, cut into rows by o_indptr, merged to bf16; at least two
  /// copies and at least `least_bytes` of partials.
  MergeData(Backend& backend, const std::vector<std::int32_t>& o_indptr, std::int64_t heads,
            std::int64_t head_dim, std::size_t least_bytes);

  std::size_t copies() const { return copies_; }
  SplitKvMergeArgs args(std::size_t copy) const;
  /// Partials, o_indptr, out and lse, each once.
  std::size_t bytes() const;

 private:
  std::int64_t rows_, partials_, heads_, head_dim_;
  std::size_t copies_;
  DeviceBuffer v_, lse_, o_indptr_, out_, lse_out_;
};

}  // namespace parity
