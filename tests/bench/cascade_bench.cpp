// Speed of paged_decode_cascade and paged_decode_sparse against the read-only ceiling of the bytes
// that they cannot do without.
#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "device/paged_decode_cascade.hpp"
#include "device/paged_decode_sparse.hpp"
#include "tests/bench/benches.hpp"

namespace parity {
namespace {

/// i32 values in device memory.
class Integers {
 public:
  Integers(Backend& backend, const std::vector<std::int32_t>& values)
      : count_(std::ssize(values)), memory_(backend, values.size() * sizeof(std::int32_t)) {
    backend.copy_in(memory_.data(), std::as_bytes(std::span(values)));
  }
  DeviceTensor tensor() const { return {{Dtype::i32, {count_}}, memory_.data()}; }
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  std::int64_t count_;
  DeviceBuffer memory_;
};

/// k and v of as many tokens of all kv heads, q, out and lse, each once.
std::size_t bytes_of(const DecodeShape& shape, std::int64_t tokens) {
  const auto size = static_cast<std::int64_t>(size_of(shape.pool));
  const std::int64_t kv = 2 * tokens * shape.kv_heads * shape.head_dim * size;
  const std::int64_t each_head = 2 * shape.head_dim * 2 + 4;
  return static_cast<std::size_t>(kv + shape.rows * shape.heads * each_head);
}

/// All rows share the pages of row 0; the suffix of each is the first pages of another row.
void cascade(Bench& bench, const DecodeShape& shape, std::int64_t suffix_pages,
             benchmark::State& state) {
  const DecodeData& data = bench.decode_data(shape);
  Runtime& runtime = bench.device.runtime();
  Backend& backend = runtime.backend();
  const HostPageTable rows = data.table(0);
  const auto pages_of = [&](std::int64_t row) {
    return rows.indices.begin() + row * shape.pages_of_row();
  };
  const auto batch = static_cast<std::size_t>(shape.rows);
  HostCascadeTable table;
  table.group_indptr = {0, static_cast<std::int32_t>(shape.rows)};
  table.prefix_indptr = {0, static_cast<std::int32_t>(shape.pages_of_row())};
  table.prefix_indices.assign(pages_of(0), pages_of(1));
  table.suffix.indptr = {0};
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const auto first = pages_of(1 + row % (shape.rows - 1));
    table.suffix.indices.insert(table.suffix.indices.end(), first, first + suffix_pages);
    table.suffix.indptr.push_back(static_cast<std::int32_t>((row + 1) * suffix_pages));
  }
  table.suffix.last_page_len.assign(batch, static_cast<std::int32_t>(shape.page_size));
  table.suffix.first_page_offset.assign(batch, 0);
  const Integers groups(backend, table.group_indptr), prefix_indptr(backend, table.prefix_indptr),
      prefix_indices(backend, table.prefix_indices), indptr(backend, table.suffix.indptr),
      indices(backend, table.suffix.indices), last(backend, table.suffix.last_page_len),
      first(backend, table.suffix.first_page_offset);
  PagedDecodeCascadeArgs args{data.args(0), groups.tensor(), prefix_indptr.tensor(),
                              prefix_indices.tensor()};
  args.decode.table = {indptr.tensor(), indices.tensor(), last.tensor(), first.tensor()};
  const PagedDecodeCascadePlan plan(runtime, args, table, kAutoPagesPerChunk);
  const auto launch = [&](std::size_t) { return paged_decode_cascade(runtime, args, plan); };
  launch_and_check(state, backend, dtypes_of(args.decode), launch, args.decode.out,
                   args.decode.lse);
  const std::int64_t tokens = (shape.pages_of_row() + shape.rows * suffix_pages) * shape.page_size;
  time_cold(state, bench.device, bytes_of(shape, tokens) + prefix_indices.bytes() + indices.bytes(),
            1, launch);
}

/// Each kv head selects every fourth token of a row, four of them together all.
void sparse(Bench& bench, const DecodeShape& shape, benchmark::State& state) {
  constexpr std::int64_t kEvery = 4;
  const DecodeData& data = bench.decode_data(shape);
  Runtime& runtime = bench.device.runtime();
  Backend& backend = runtime.backend();
  const std::vector<std::int32_t> pages = data.table(0).indices;
  std::vector<std::int32_t> list_indptr = {0}, slots;
  for (std::int64_t list = 0; list < shape.rows * shape.kv_heads; ++list) {
    const std::int64_t row = list / shape.kv_heads;
    for (std::int64_t token = list % kEvery; token < shape.tokens; token += kEvery) {
      const std::int64_t page = row * shape.pages_of_row() + token / shape.page_size;
      slots.push_back(static_cast<std::int32_t>(
          pages[static_cast<std::size_t>(page)] * shape.page_size + token % shape.page_size));
    }
    list_indptr.push_back(static_cast<std::int32_t>(slots.size()));
  }
  const Integers indptr(backend, list_indptr), indices(backend, slots);
  PagedDecodeArgs args = data.args(0);
  for (PagePool* pool : {&args.k, &args.v}) {
    Shape& view = pool->pages.type.shape;
    view = {view[0] * view[1], 1, view[2], view[3]};
    *pool = PagePool::contiguous(pool->pages);
  }
  args.page_size = 1;
  args.table = {indptr.tensor(), indices.tensor(), {}, {}};
  const auto launch = [&](std::size_t) { return paged_decode_sparse(runtime, args); };
  launch_and_check(state, backend, dtypes_of(args), launch, args.out, args.lse);
  time_cold(state, bench.device,
            bytes_of(shape, shape.rows * shape.tokens / kEvery) + indptr.bytes() + indices.bytes(),
            1, launch);
}

}  // namespace

void add_cascade_benches(Bench& bench) {
  const bool gpu = bench.device.on_gpu();
  const DecodeShape shape = gpu ? DecodeShape{32, 4096, 32, 8, 128} : DecodeShape{2, 64, 8, 2, 64};
  const std::int64_t suffix_pages = gpu ? 16 : 1;
  bench
      .add(fmt::format("paged_decode_cascade/rows:{}/prefix:{}/suffix:{}/heads:{}/kv_heads:{}",
                       shape.rows, shape.tokens, suffix_pages * shape.page_size, shape.heads,
                       shape.kv_heads),
           [&bench, shape, suffix_pages](benchmark::State& state) {
             cascade(bench, shape, suffix_pages, state);
           })
      ->UseManualTime();
  bench
      .add(fmt::format("paged_decode_sparse/rows:{}/slots:{}/heads:{}/kv_heads:{}", shape.rows,
                       shape.tokens / 4, shape.heads, shape.kv_heads),
           [&bench, shape](benchmark::State& state) { sparse(bench, shape, state); })
      ->UseManualTime();
}

}  // namespace parity
