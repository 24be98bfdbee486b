// What paged_decode_sparse refuses, its module key and its launch.
#include "device/paged_decode_sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "datasets/errors.hpp"
#include "device/argument_checks.hpp"
#include "device/paged_decode_one_pass.hpp"

namespace parity {
namespace {

constexpr std::string_view kWho = "paged_decode_sparse";
constexpr Refuse refuse{kWho};

void check_absent(std::string_view name, const DeviceTensor& tensor) {
  if (tensor.data != nullptr)
    refuse("{} is given, but a list of slots has none; leave it empty", name);
}

/// The entries of a list, by number in page_indices, so that equal slots stand side by side.
std::vector<std::int32_t> by_slot(const HostSelection& selection, std::size_t list) {
  std::vector<std::int32_t> entries(
      static_cast<std::size_t>(selection.indptr[list + 1] - selection.indptr[list]));
  std::iota(entries.begin(), entries.end(), selection.indptr[list]);
  std::ranges::stable_sort(entries, {}, [&](std::int32_t entry) {
    return selection.indices[static_cast<std::size_t>(entry)];
  });
  return entries;
}

void check_list(const HostSelection& selection, std::size_t list, std::size_t kv_heads,
                std::int64_t slots) {
  const std::size_t row = list / kv_heads, kv_head = list % kv_heads;
  std::int32_t before = -1;
  for (const std::int32_t entry : by_slot(selection, list)) {
    const std::int32_t slot = selection.indices[static_cast<std::size_t>(entry)];
    if (slot < 0 || slot >= slots)
      refuse("page_indices[{}] of row {}, kv head {} is {}, but the smaller pool has {} slots",
             entry, row, kv_head, slot, slots);
    if (before >= 0 && selection.indices[static_cast<std::size_t>(before)] == slot)
      refuse("page_indices[{}] and [{}] of row {}, kv head {} both select slot {}; name it once",
             before, entry, row, kv_head, slot);
    before = entry;
  }
}

}  // namespace

void check_paged_decode_sparse_args(const PagedDecodeArgs& args) {
  if (args.page_size != 1)
    refuse("page_size is {}, but must be 1: what is selected are slots", args.page_size);
  check_paged_decode_tensors(args);
  if (args.window != 0)
    refuse("window is {}, but must be 0: selected slots have no order", args.window);
  const PageTable& table = args.table;
  check_type(kWho, "page_indptr", table.indptr,
             {Dtype::i32, {args.q.type.shape[0] * args.kv_heads + 1}});
  if (table.indices.type.dtype != Dtype::i32 || table.indices.type.shape.size() != 1)
    refuse("page_indices is {}, but must be i32[nnz]", table.indices.type.to_string());
  check_absent("last_page_len", table.last_page_len);
  check_absent("first_page_offset", table.first_page_offset);
  check_memory(kWho, "page_indptr", table.indptr, 4);
  check_memory(kWho, "page_indices", table.indices, 4);
  check_apart(kWho, paged_decode_output_memory(args),
              {ArgumentMemory::of("page_indptr", table.indptr),
               ArgumentMemory::of("page_indices", table.indices)});
}

void check_selection(const HostSelection& selection, const PagedDecodeArgs& args) {
  const auto kv_heads = static_cast<std::size_t>(args.kv_heads);
  const std::size_t lists = static_cast<std::size_t>(args.q.type.shape[0]) * kv_heads;
  if (selection.indptr.size() != lists + 1)
    refuse("page_indptr has {} entries, but must have {}: one more than rows · kv heads",
           selection.indptr.size(), lists + 1);
  check_indptr(kWho, "page_indptr", selection.indptr, std::ssize(selection.indices),
               fmt::format("page_indices has {} entries", selection.indices.size()));
  const std::int64_t slots = std::min(args.k.pages.type.shape[0], args.v.pages.type.shape[0]);
  for (std::size_t list = 0; list < lists; ++list) check_list(selection, list, kv_heads, slots);
}

VariantSpec paged_decode_sparse_variant(const PagedDecodeChoice& choice) {
  return paged_decode_variant("paged_decode_sparse", choice);
}

std::string paged_decode_sparse(Runtime& runtime, const PagedDecodeArgs& args) {
  check_paged_decode_sparse_args(args);
  if (args.checked)
    check_selection({read_integers(runtime.backend(), args.table.indptr),
                     read_integers(runtime.backend(), args.table.indices)},
                    args);
  return "sparse " + launch_one_pass(runtime, "paged_decode_sparse", args);
}

}  // namespace parity
