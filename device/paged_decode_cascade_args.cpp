// What paged_decode_cascade refuses beyond what every paged decode kernel does.
#include "device/paged_decode_cascade_args.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "datasets/errors.hpp"
#include "device/argument_checks.hpp"

namespace parity {
namespace {

constexpr std::string_view kWho = "paged_decode_cascade";
constexpr Refuse refuse{kWho};

void check_integers(std::string_view name, const DeviceTensor& tensor) {
  if (tensor.type.dtype != Dtype::i32 || tensor.type.shape.size() != 1)
    refuse("{} is {}, but must be i32 of rank 1", name, tensor.type.to_string());
  check_memory(kWho, name, tensor, 4);
}

void check_groups(const std::vector<std::int32_t>& group_indptr, std::int64_t rows) {
  check_indptr(kWho, "group_indptr", group_indptr, rows, fmt::format("q has {} rows", rows));
  if (group_indptr.back() != rows)
    refuse("group_indptr ends at {}, but q has {} rows: each is in one group", group_indptr.back(),
           rows);
}

void check_prefix(const HostCascadeTable& table, std::size_t group, std::int64_t page_size,
                  std::int64_t num_pages) {
  const std::int32_t begin = table.prefix_indptr[group], end = table.prefix_indptr[group + 1];
  if ((std::int64_t{end} - begin) * page_size > std::numeric_limits<std::int32_t>::max())
    refuse("prefix_indptr gives group {} {} pages, more than 2^31 slots", group, end - begin);
  for (std::int32_t i = begin; i < end; ++i) {
    const std::int32_t page = table.prefix_indices[static_cast<std::size_t>(i)];
    if (page < 0 || page >= num_pages)
      refuse("prefix_indices[{}] of group {} is {}, but the smaller pool has {} pages", i, group,
             page, num_pages);
  }
  for (std::int32_t row = table.group_indptr[group]; row < table.group_indptr[group + 1]; ++row) {
    const std::int32_t first = table.suffix.first_page_offset[static_cast<std::size_t>(row)];
    if (end > begin && first != 0)
      refuse("first_page_offset of row {} is {}, but must be 0 behind the prefix of group {}", row,
             first, group);
  }
}

std::vector<ArgumentMemory> tables_of(const PagedDecodeCascadeArgs& args) {
  return {ArgumentMemory::of("group_indptr", args.group_indptr),
          ArgumentMemory::of("prefix_indptr", args.prefix_indptr),
          ArgumentMemory::of("prefix_indices", args.prefix_indices)};
}

}  // namespace

std::vector<ArgumentMemory> paged_decode_memory(const PagedDecodeCascadeArgs& args) {
  std::vector<ArgumentMemory> memory = paged_decode_memory(args.decode);
  for (const ArgumentMemory& table : tables_of(args)) memory.push_back(table);
  return memory;
}

void check_paged_decode_cascade_args(const PagedDecodeCascadeArgs& args) {
  check_paged_decode_args(args.decode);
  if (args.decode.window != 0)
    refuse("window is {}, but must be 0: a prefix is attended whole", args.decode.window);
  check_integers("group_indptr", args.group_indptr);
  if (args.group_indptr.type.elements() < 1)
    refuse("group_indptr is {}, but must be i32[groups + 1]", args.group_indptr.type.to_string());
  check_type(kWho, "prefix_indptr", args.prefix_indptr, args.group_indptr.type);
  check_integers("prefix_indptr", args.prefix_indptr);
  check_integers("prefix_indices", args.prefix_indices);
  check_apart(kWho, paged_decode_output_memory(args.decode), tables_of(args));
}

HostCascadeTable read_cascade_table(Backend& backend, const PagedDecodeCascadeArgs& args) {
  return {read_page_table(backend, args.decode.table), read_integers(backend, args.group_indptr),
          read_integers(backend, args.prefix_indptr), read_integers(backend, args.prefix_indices)};
}

void check_cascade_table(const HostCascadeTable& table, const PagedDecodeCascadeArgs& args) {
  check_page_table(table.suffix, args.decode);
  const auto groups = static_cast<std::size_t>(args.group_indptr.type.elements() - 1);
  if (table.group_indptr.size() != groups + 1 || table.prefix_indptr.size() != groups + 1)
    refuse("tables of {} and {} groups (group_indptr, prefix_indptr) were given for {} groups",
           std::ssize(table.group_indptr) - 1, std::ssize(table.prefix_indptr) - 1, groups);
  check_groups(table.group_indptr, args.decode.q.type.shape[0]);
  check_indptr(kWho, "prefix_indptr", table.prefix_indptr, std::ssize(table.prefix_indices),
               fmt::format("prefix_indices has {} entries", table.prefix_indices.size()));
  const std::int64_t num_pages =
      std::min(args.decode.k.pages.type.shape[0], args.decode.v.pages.type.shape[0]);
  for (std::size_t group = 0; group < groups; ++group)
    check_prefix(table, group, args.decode.page_size, num_pages);
}

}  // namespace parity
