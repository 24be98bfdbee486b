// What paged decode kernels refuse, each with a reason that names the argument.
#include "device/paged_decode_args.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"
#include "device/argument_checks.hpp"

namespace parity {
namespace {

constexpr std::string_view kWho = "paged decode";
/// One lane loads this many elements at a time, in pieces of 16 bytes at most.
constexpr std::int64_t kPackElements = 8;
constexpr std::uintptr_t kAlignment = 16;
/// Of i32 and f32.
constexpr std::uintptr_t kElementBytes = 4;

constexpr Refuse refuse{kWho};

void check_stride(std::string_view pool, std::string_view axis, std::int64_t stride) {
  if (stride < 0 || stride % kPackElements != 0)
    refuse("{}.stride_{} is {}, but must be a multiple of {} elements, not negative", pool, axis,
           stride, kPackElements);
}

void check_pool(std::string_view name, const PagePool& pool, const PagedDecodeArgs& args) {
  check_float_or_fp8(kWho, name, pool.pages.type.dtype);
  const Shape& shape = pool.pages.type.shape;
  if (shape.size() != 4)
    refuse("{} is {}, but must be [num_pages, page_size, kv_heads, head_dim]", name,
           pool.pages.type.to_string());
  check_type(
      kWho, name, pool.pages,
      {pool.pages.type.dtype, {shape[0], args.page_size, args.kv_heads, args.q.type.shape[2]}});
  check_stride(name, "page", pool.stride_page);
  check_stride(name, "slot", pool.stride_slot);
  check_stride(name, "head", pool.stride_head);
  check_memory(kWho, name, pool.pages, is_fp8(pool.pages.type.dtype) ? 8 : kAlignment);
}

void check_scale(std::string_view name, float scale, Dtype dtype) {
  if (!std::isfinite(scale) || scale <= 0.0f)
    refuse("{} is {}, but must be finite and above 0", name, scale);
  if (!is_fp8(dtype) && scale != 1.0f)
    refuse("{} is {}, but must be 1 for a tensor of {}", name, scale, parity::name(dtype));
}

/// What a score is multiplied by; beyond the normal numbers of f32, products are lost or infinite.
void check_factors(const PagedDecodeArgs& args) {
  const auto computable = [](float factor) { return std::isnormal(factor); };
  const ScoreFactors factors = ScoreFactors::of(args);
  if (args.softcap > 0.0f && !computable(factors.cap))
    refuse("softcap is {:g}, but log2(e) * softcap must be a normal number of f32, not {:g}",
           args.softcap, factors.cap);
  if (args.scale == 0.0f || computable(factors.scale)) return;
  if (args.softcap > 0.0f)
    refuse(
        "softcap is {:g}, but scale * k_scale / softcap must be a normal number of f32, not {:g}: "
        "scale is {:g} and k_scale {:g}",
        args.softcap, factors.scale, args.scale, args.k_scale);
  refuse(
      "scale is {:g} and k_scale {:g}, but log2(e) * scale * k_scale must be a normal number of "
      "f32 (or 0), not {:g}",
      args.scale, args.k_scale, factors.scale);
}

void check_scores(const PagedDecodeArgs& args) {
  if (!std::isfinite(args.scale)) refuse("scale is {}, but must be finite", args.scale);
  check_scale("k_scale", args.k_scale, args.k.pages.type.dtype);
  check_scale("v_scale", args.v_scale, args.v.pages.type.dtype);
  if (!std::isfinite(args.softcap) || args.softcap < 0.0f)
    refuse("softcap is {}, but must be finite, and 0 or above", args.softcap);
  check_factors(args);
  if (args.window < 0) refuse("window is {}, but must be 0 (off) or above", args.window);
}

void check_query(const PagedDecodeArgs& args) {
  check_float(kWho, "q", args.q);
  const Shape& shape = args.q.type.shape;
  if (shape.size() != 3)
    refuse("q is {}, but must be [batch, heads, head_dim]", args.q.type.to_string());
  check_head_dim(kWho, "head_dim of q", shape[2]);
  if (args.kv_heads < 1) refuse("kv_heads is {}, but must be at least 1", args.kv_heads);
  if (shape[1] < 1 || shape[1] % args.kv_heads != 0)
    refuse("q has {} heads, but must have a multiple of kv_heads = {}", shape[1], args.kv_heads);
  check_memory(kWho, "q", args.q, kAlignment);
}

void check_pages(const HostPageTable& table, std::size_t row, std::int64_t num_pages) {
  for (std::int32_t i = table.indptr[row]; i < table.indptr[row + 1]; ++i) {
    const std::int32_t page = table.indices[static_cast<std::size_t>(i)];
    if (page < 0 || page >= num_pages)
      refuse("page_indices[{}] of row {} is {}, but the smaller pool has {} pages", i, row, page,
             num_pages);
  }
}

void check_row(const HostPageTable& table, std::size_t row, std::int64_t page_size) {
  const std::int64_t pages = std::int64_t{table.indptr[row + 1]} - table.indptr[row];
  const std::int32_t last = table.last_page_len[row];
  const std::int32_t first = table.first_page_offset[row];
  if (pages == 0) {
    if (last != 0) refuse("last_page_len of row {} without pages is {}, but must be 0", row, last);
    if (first != 0)
      refuse("first_page_offset of row {} without pages is {}, but must be 0", row, first);
    return;
  }
  if (last < 1 || last > page_size)
    refuse("last_page_len of row {} is {}, but must be 1 to page_size = {}", row, last, page_size);
  if (first < 0 || first >= page_size)
    refuse("first_page_offset of row {} is {}, but must be 0 to page_size - 1 = {}", row, first,
           page_size - 1);
  if ((pages - 1) * page_size + last < first)
    refuse("first_page_offset of row {} is {}, more than the row's {} slots", row, first,
           (pages - 1) * page_size + last);
  if (pages * page_size > std::numeric_limits<std::int32_t>::max())
    refuse("page_indptr gives row {} {} pages, more than 2^31 slots", row, pages);
}

/// From its first element to its last, and what lies between.
ArgumentMemory memory_of(std::string_view name, const PagePool& pool) {
  const Shape& shape = pool.pages.type.shape;
  if (pool.pages.type.elements() == 0) return {name, pool.pages.data, 0};
  const std::int64_t elements = (shape[0] - 1) * pool.stride_page +
                                (shape[1] - 1) * pool.stride_slot +
                                (shape[2] - 1) * pool.stride_head + shape[3];
  return {name, pool.pages.data,
          elements * static_cast<std::int64_t>(size_of(pool.pages.type.dtype))};
}

std::vector<ArgumentMemory> tensors_of(const PagedDecodeArgs& args) {
  return {ArgumentMemory::of("q", args.q), memory_of("k", args.k), memory_of("v", args.v)};
}

std::vector<ArgumentMemory> arrays_of(const PageTable& table) {
  return {ArgumentMemory::of("page_indptr", table.indptr),
          ArgumentMemory::of("page_indices", table.indices),
          ArgumentMemory::of("last_page_len", table.last_page_len),
          ArgumentMemory::of("first_page_offset", table.first_page_offset)};
}

}  // namespace

std::vector<ArgumentMemory> paged_decode_output_memory(const PagedDecodeArgs& args) {
  return {ArgumentMemory::of("out", args.out), ArgumentMemory::of("lse", args.lse)};
}

std::vector<ArgumentMemory> paged_decode_memory(const PagedDecodeArgs& args) {
  std::vector<ArgumentMemory> memory = paged_decode_output_memory(args);
  for (const auto& more : {tensors_of(args), arrays_of(args.table)})
    memory.insert(memory.end(), more.begin(), more.end());
  return memory;
}

PagePool PagePool::contiguous(const DeviceTensor& pages) {
  const Shape& shape = pages.type.shape;
  if (shape.size() != 4)
    refuse("a pool is {}, but must be [num_pages, page_size, kv_heads, head_dim]",
           pages.type.to_string());
  return {pages, shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3]};
}

ScoreFactors ScoreFactors::of(const PagedDecodeArgs& args) {
  const double scale = double{args.scale} * args.k_scale;
  const bool capped = args.softcap > 0.0f;
  return {.scale = static_cast<float>(capped ? scale / args.softcap : scale * std::numbers::log2e),
          .cap = static_cast<float>(std::numbers::log2e * args.softcap)};
}

void check_paged_decode_tensors(const PagedDecodeArgs& args) {
  check_query(args);
  // Positions are 32-bit in kernels.
  if (args.page_size < 1 || args.page_size > (1 << 30))
    refuse("page_size is {}, but must be 1 to 2^30", args.page_size);
  check_pool("k", args.k, args);
  check_pool("v", args.v, args);
  check_scores(args);
  if (args.out.type.dtype != Dtype::f32) check_type(kWho, "out", args.out, args.q.type);
  const Shape& q = args.q.type.shape;
  check_type(kWho, "out", args.out, {args.out.type.dtype, q});
  check_type(kWho, "lse", args.lse, {Dtype::f32, {q[0], q[1]}});
  check_memory(kWho, "out", args.out, kAlignment);
  check_memory(kWho, "lse", args.lse, kElementBytes);
  check_apart(kWho, paged_decode_output_memory(args), tensors_of(args));
}

void check_paged_decode_args(const PagedDecodeArgs& args) {
  check_paged_decode_tensors(args);
  const std::int64_t batch = args.q.type.shape[0];
  const PageTable& table = args.table;
  check_type(kWho, "page_indptr", table.indptr, {Dtype::i32, {batch + 1}});
  if (table.indices.type.dtype != Dtype::i32 || table.indices.type.shape.size() != 1)
    refuse("page_indices is {}, but must be i32[nnz]", table.indices.type.to_string());
  check_type(kWho, "last_page_len", table.last_page_len, {Dtype::i32, {batch}});
  check_type(kWho, "first_page_offset", table.first_page_offset, {Dtype::i32, {batch}});
  check_memory(kWho, "page_indptr", table.indptr, kElementBytes);
  check_memory(kWho, "page_indices", table.indices, kElementBytes);
  check_memory(kWho, "last_page_len", table.last_page_len, kElementBytes);
  check_memory(kWho, "first_page_offset", table.first_page_offset, kElementBytes);
  check_apart(kWho, paged_decode_output_memory(args), arrays_of(table));
}

HostPageTable read_page_table(Backend& backend, const PageTable& table) {
  return {read_integers(backend, table.indptr), read_integers(backend, table.indices),
          read_integers(backend, table.last_page_len),
          read_integers(backend, table.first_page_offset)};
}

void check_page_table(const HostPageTable& table, const PagedDecodeArgs& args) {
  const auto batch = static_cast<std::size_t>(args.q.type.shape[0]);
  if (table.indptr.size() != batch + 1 || table.last_page_len.size() != batch ||
      table.first_page_offset.size() != batch)
    refuse(
        "a page table of {}, {} and {} rows (page_indptr, last_page_len, first_page_offset) was "
        "given for {} rows of q",
        static_cast<std::int64_t>(table.indptr.size()) - 1, table.last_page_len.size(),
        table.first_page_offset.size(), batch);
  check_indptr(kWho, "page_indptr", table.indptr, std::ssize(table.indices),
               fmt::format("page_indices has {} entries", table.indices.size()));
  const std::int64_t num_pages = std::min(args.k.pages.type.shape[0], args.v.pages.type.shape[0]);
  for (std::size_t row = 0; row < batch; ++row) {
    check_row(table, row, args.page_size);
    check_pages(table, row, num_pages);
  }
}

}  // namespace parity
