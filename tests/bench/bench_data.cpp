// Places bench inputs on a device without ever holding them whole on the host.
#include "tests/bench/bench_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "datasets/errors.hpp"
#include "datasets/fill.hpp"

namespace parity {
namespace {

constexpr std::int64_t kPatternElements = 131071;
/// Patterns that are copied to the device at once.
constexpr std::int64_t kPatternsAtOnce = 128;
constexpr std::uint64_t kSeed = 20;

std::size_t copies_for(std::size_t bytes, std::size_t least_bytes) {
  return std::max<std::size_t>(2, (least_bytes + bytes - 1) / bytes);
}

DeviceTensor place(Backend& backend, DeviceBuffer& buffer, const TensorType& type) {
  buffer = DeviceBuffer(backend, type.bytes());
  return {type, buffer.data()};
}

void place_pattern(Backend& backend, DeviceBuffer& buffer, const TensorType& type) {
  fill_pattern(backend, place(backend, buffer, type));
}

/// NaN in every float format.
void place_unwritten(Backend& backend, DeviceBuffer& buffer, const TensorType& type) {
  backend.fill(place(backend, buffer, type).data, std::byte{0xff}, type.bytes());
}

void place_values(Backend& backend, DeviceBuffer& buffer, const std::vector<std::int32_t>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  buffer = DeviceBuffer(backend, bytes.size());
  backend.copy_in(buffer.data(), bytes);
}

/// The tensor number `copy` of several that lie one after the other.
DeviceTensor nth(const DeviceBuffer& buffer, TensorType type, std::size_t copy) {
  auto* const at = static_cast<std::byte*>(buffer.data()) + copy * type.bytes();
  return {std::move(type), at};
}

Shape times(std::size_t copies, Shape shape) {
  shape[0] *= static_cast<std::int64_t>(copies);
  return shape;
}

std::vector<std::int32_t> shuffled(std::size_t count) {
  std::vector<std::int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const std::uint32_t stream = stream_of("page_indices");
  for (std::size_t i = count - 1; i > 0; --i)
    std::swap(order[i], order[random_word(kSeed, stream, i) % (i + 1)]);
  return order;
}

}  // namespace

void fill_pattern(Backend& backend, const DeviceTensor& tensor) {
  fill_pattern(backend, tensor, [](double normal) { return normal; });
}

void fill_pattern(Backend& backend, const DeviceTensor& tensor, double (*value)(double normal)) {
  const std::int64_t elements = tensor.type.elements();
  const Dtype dtype = tensor.type.dtype;
  Tensor pattern(dtype, {std::min(elements, kPatternElements)});
  fill_normal(pattern, kSeed, "pattern");
  for (std::int64_t i = 0; i < pattern.elements(); ++i) pattern.set(i, value(pattern.at(i)));
  Tensor staged(dtype, {std::min(elements, kPatternsAtOnce * kPatternElements)});
  for (std::size_t at = 0; at < staged.bytes().size(); at += pattern.bytes().size()) {
    const auto room = staged.bytes().subspan(at);
    std::ranges::copy(pattern.bytes().first(std::min(room.size(), pattern.bytes().size())),
                      room.begin());
  }
  for (std::size_t at = 0; at < tensor.type.bytes(); at += staged.bytes().size()) {
    const std::size_t count = std::min(staged.bytes().size(), tensor.type.bytes() - at);
    const auto bytes = std::as_const(staged).bytes().first(count);
    backend.copy_in(static_cast<std::byte*>(tensor.data) + at, bytes);
  }
}

void require_plausible(Backend& backend, const std::string& name, const DeviceTensor& tensor) {
  backend.synchronize();
  Tensor got(tensor.type);
  backend.copy_out(got.bytes(), tensor.data);
  bool all_zero = true;
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    const double value = got.at(i);
    if (!std::isfinite(value))
      throw DeviceError(
          fmt::format("element {} of {} is {}: the kernel is wrong, its speed means "
                      "nothing",
                      i, name, value));
    all_zero = all_zero && value == 0.0;
  }
  if (all_zero)
    throw DeviceError(name + " is all zero: the kernel is wrong, its speed means nothing");
}

std::string DecodeShape::name() const {
  std::string text =
      fmt::format("rows:{}/tokens:{}/heads:{}/kv_heads:{}", rows, tokens, heads, kv_heads);
  if (pool != Dtype::bf16) text += fmt::format("/pool:{}", parity::name(pool));
  if (tile != 4) text += fmt::format("/tile:{}", tile);
  return text;
}

std::size_t DecodeShape::bytes() const {
  const std::int64_t kv =
      2 * rows * tokens * kv_heads * head_dim * static_cast<std::int64_t>(size_of(pool));
  const std::int64_t q_and_out = 2 * rows * heads * head_dim * 2;
  const std::int64_t table = (rows + 1 + rows * pages_of_row() + 2 * rows) * 4;
  return static_cast<std::size_t>(kv + q_and_out + rows * heads * 4 + table);
}

DecodeData::DecodeData(Backend& backend, const DecodeShape& shape, std::size_t least_bytes)
    : shape_(shape) {
  const std::int64_t pages = shape.rows * shape.pages_of_row();
  const Shape pool = {pages, shape.page_size, shape.kv_heads, shape.head_dim};
  const Shape query = {shape.rows, shape.heads, shape.head_dim};
  copies_ = copies_for(2 * TensorType{shape.pool, pool}.bytes(), least_bytes);
  for (std::int64_t row = 0; row <= shape.rows; ++row)
    indptr_.push_back(static_cast<std::int32_t>(row * shape.pages_of_row()));
  indices_ = shuffled(copies_ * static_cast<std::size_t>(pages));
  const std::int64_t before_last = (shape.pages_of_row() - 1) * shape.page_size;
  last_page_len_.assign(static_cast<std::size_t>(shape.rows),
                        static_cast<std::int32_t>(shape.tokens - before_last));
  first_page_offset_.assign(static_cast<std::size_t>(shape.rows), 0);

  place_pattern(backend, k_, {shape.pool, times(copies_, pool)});
  place_pattern(backend, v_, {shape.pool, times(copies_, pool)});
  place_pattern(backend, q_, {Dtype::bf16, times(copies_, query)});
  place_unwritten(backend, out_, {Dtype::bf16, times(copies_, query)});
  place_unwritten(backend, lse_, {Dtype::f32, times(copies_, {shape.rows, shape.heads})});
  place_values(backend, device_indptr_, indptr_);
  place_values(backend, device_indices_, indices_);
  place_values(backend, device_last_page_len_, last_page_len_);
  place_values(backend, device_first_page_offset_, first_page_offset_);
}

PagedDecodeArgs DecodeData::args(std::size_t copy) const {
  const std::int64_t rows = shape_.rows;
  const std::int64_t pages = rows * shape_.pages_of_row();
  const TensorType pool{
      shape_.pool, times(copies_, {pages, shape_.page_size, shape_.kv_heads, shape_.head_dim})};
  const TensorType query{Dtype::bf16, {rows, shape_.heads, shape_.head_dim}};
  return {.q = nth(q_, query, copy),
          .k = PagePool::contiguous({pool, k_.data()}),
          .v = PagePool::contiguous({pool, v_.data()}),
          .table = {.indptr = {{Dtype::i32, {rows + 1}}, device_indptr_.data()},
                    .indices = nth(device_indices_, {Dtype::i32, {pages}}, copy),
                    .last_page_len = {{Dtype::i32, {rows}}, device_last_page_len_.data()},
                    .first_page_offset = {{Dtype::i32, {rows}}, device_first_page_offset_.data()}},
          .out = nth(out_, query, copy),
          .lse = nth(lse_, {Dtype::f32, {rows, shape_.heads}}, copy),
          .scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(shape_.head_dim))),
          .page_size = shape_.page_size,
          .kv_heads = shape_.kv_heads,
          .tile = shape_.tile};
}

HostPageTable DecodeData::table(std::size_t copy) const {
  const auto pages = static_cast<std::ptrdiff_t>(indptr_.back());
  const auto first = indices_.begin() + static_cast<std::ptrdiff_t>(copy) * pages;
  return {indptr_, {first, first + pages}, last_page_len_, first_page_offset_};
}

MergeData::MergeData(Backend& backend, const std::vector<std::int32_t>& o_indptr,
                     std::int64_t heads, std::int64_t head_dim, std::size_t least_bytes)
    : rows_(static_cast<std::int64_t>(o_indptr.size()) - 1),
      partials_(o_indptr.back()),
      heads_(heads),
      head_dim_(head_dim) {
  const TensorType v{Dtype::f32, {partials_, heads, head_dim}};
  copies_ = copies_for(v.bytes(), least_bytes);
  place_pattern(backend, v_, {Dtype::f32, times(copies_, v.shape)});
  place_pattern(backend, lse_, {Dtype::f32, times(copies_, {partials_, heads})});
  place_values(backend, o_indptr_, o_indptr);
  place_unwritten(backend, out_, {Dtype::bf16, times(copies_, {rows_, heads, head_dim})});
  place_unwritten(backend, lse_out_, {Dtype::f32, times(copies_, {rows_, heads})});
}

SplitKvMergeArgs MergeData::args(std::size_t copy) const {
  return {.v = nth(v_, {Dtype::f32, {partials_, heads_, head_dim_}}, copy),
          .lse = nth(lse_, {Dtype::f32, {partials_, heads_}}, copy),
          .o_indptr = {{Dtype::i32, {rows_ + 1}}, o_indptr_.data()},
          .out = nth(out_, {Dtype::bf16, {rows_, heads_, head_dim_}}, copy),
          .lse_out = nth(lse_out_, {Dtype::f32, {rows_, heads_}}, copy)};
}

std::size_t MergeData::bytes() const {
  const std::int64_t each = partials_ * heads_ * (head_dim_ + 1) * 4;
  const std::int64_t written = rows_ * heads_ * (head_dim_ * 2 + 4);
  return static_cast<std::size_t>(each + (rows_ + 1) * 4 + written);
}

}  // namespace parity
