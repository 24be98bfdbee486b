// Builds, changes and runs paged decode problems for tests.
#include "tests/paged_decode_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "datasets/fill.hpp"
#include "harness/judge.hpp"
#include "harness/kernels/paged_decode_cases.hpp"
#include "harness/kernels/paged_decode_expectation.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"
#include "tests/tensor_values.hpp"

namespace parity {
namespace {

std::int64_t integer(const Tensor& tensor, std::int64_t index) {
  return static_cast<std::int64_t>(tensor.at(index));
}

/// The element [row, ...] as a batch of one.
Tensor slice(const Tensor& tensor, std::int64_t row) {
  Shape shape = tensor.shape();
  shape[0] = 1;
  Tensor result(tensor.dtype(), shape);
  const std::size_t bytes = result.bytes().size();
  std::ranges::copy(tensor.bytes().subspan(static_cast<std::size_t>(row) * bytes, bytes),
                    result.bytes().begin());
  return result;
}

/// A pool with `slots` slots a page, NaN beyond those of `pages`.
Tensor widen(const Tensor& pages, std::int64_t slots) {
  Shape shape = pages.shape();
  shape[1] = slots;
  Tensor result(pages.dtype(), shape);
  std::ranges::fill(result.bytes(), std::byte{0xff});
  const std::size_t from = pages.bytes().size() / static_cast<std::size_t>(shape[0]);
  const std::size_t to = result.bytes().size() / static_cast<std::size_t>(shape[0]);
  for (std::size_t page = 0; page < static_cast<std::size_t>(shape[0]); ++page)
    std::ranges::copy(pages.bytes().subspan(page * from, from),
                      result.bytes().subspan(page * to).begin());
  return result;
}

}  // namespace

DecodeCase::DecodeCase(const std::string& id)
    : c(parse_case(registry(), "paged_decode_v1/" + id)), inputs(paged_decode_inputs(c)) {}

DecodeCase DecodeCase::uniform(std::int64_t batch) {
  DecodeCase result("q=f32,k=f32,v=f32/d=8,hq=1,hkv=1,page=1/short");
  const Tensor one = slice(find(result.inputs, "q"), 0);
  Tensor q(Dtype::f32, {batch, 1, 8});
  std::vector<std::int64_t> indptr, indices, last, first;
  for (std::int64_t row = 0; row < batch; ++row) {
    for (std::int64_t i = 0; i < 8; ++i) q.set(row * 8 + i, one.at(i));
    indptr.push_back(row);
    indices.push_back(integer(find(result.inputs, "page_indices"), 2));
    last.push_back(1);
    first.push_back(0);
  }
  indptr.push_back(batch);
  find(result.inputs, "q") = q;
  find(result.inputs, "page_indptr") = integer_tensor(indptr);
  find(result.inputs, "page_indices") = integer_tensor(indices);
  find(result.inputs, "last_page_len") = integer_tensor(last);
  find(result.inputs, "first_page_offset") = integer_tensor(first);
  return result;
}

DecodeCase DecodeCase::equal_scores(std::int64_t first, std::int64_t last, std::int64_t batch) {
  constexpr std::int64_t kPage = 64, kD = 8;
  DecodeCase result("q=f32,k=f32,v=f32/d=8,hq=1,hkv=1,page=64/short");
  const std::int64_t pages = (first + last + kPage - 1) / kPage;
  std::vector<std::int64_t> indptr, indices, last_page, offset;
  Tensor k(Dtype::f32, {pages, kPage, 1, kD});
  Tensor v(k.type());
  for (std::int64_t token = first; token < first + last; ++token)
    for (std::int64_t i = 0; i < kD; ++i) v.set(token * kD + i, 1.0);
  for (std::int64_t row = 0; row < batch; ++row) {
    indptr.push_back(row * pages);
    for (std::int64_t page = 0; page < pages; ++page) indices.push_back(page);
    last_page.push_back(first + last - (pages - 1) * kPage);
    offset.push_back(0);
  }
  indptr.push_back(batch * pages);
  find(result.inputs, "q") = Tensor(Dtype::f32, {batch, 1, kD});
  find(result.inputs, "k_pages") = k;
  find(result.inputs, "v_pages") = v;
  find(result.inputs, "page_indptr") = integer_tensor(indptr);
  find(result.inputs, "page_indices") = integer_tensor(indices);
  find(result.inputs, "last_page_len") = integer_tensor(last_page);
  find(result.inputs, "first_page_offset") = integer_tensor(offset);
  return result;
}

std::int64_t DecodeCase::batch() const {
  return find(inputs, "q").shape()[0];
}

void DecodeCase::set_constant(std::string_view name, std::int64_t value) {
  const auto axis = std::ranges::find(c.spec->constants, name, &ConstantAxis::name);
  c.constants.at(static_cast<std::size_t>(axis - c.spec->constants.begin())) = value;
}

ReferenceResult DecodeCase::expectation() const {
  return paged_decode_expectation(c, inputs);
}

std::vector<std::int64_t> DecodeCase::slots_of(std::int64_t row) const {
  const std::int64_t page_size = c.constant("page");
  const std::int64_t begin = integer(find(inputs, "page_indptr"), row);
  const std::int64_t pages = integer(find(inputs, "page_indptr"), row + 1) - begin;
  std::vector<std::int64_t> slots;
  if (pages == 0) return slots;
  const std::int64_t end = (pages - 1) * page_size + integer(find(inputs, "last_page_len"), row);
  for (std::int64_t at = integer(find(inputs, "first_page_offset"), row); at < end; ++at)
    slots.push_back(integer(find(inputs, "page_indices"), begin + at / page_size) * page_size +
                    at % page_size);
  return slots;
}

void DecodeCase::fill_unattended(double value) {
  const std::int64_t width = c.constant("hkv") * c.constant("d");
  Tensor& k = find(inputs, "k_pages");
  Tensor& v = find(inputs, "v_pages");
  std::vector<bool> attended(static_cast<std::size_t>(k.elements() / width));
  for (std::int64_t row = 0; row < batch(); ++row)
    for (const std::int64_t slot : slots_of(row)) attended[static_cast<std::size_t>(slot)] = true;
  for (std::int64_t i = 0; i < k.elements(); ++i) {
    if (attended[static_cast<std::size_t>(i / width)]) continue;
    k.set(i, value);
    v.set(i, value);
  }
}

void DecodeCase::set_value_of_newest_token(double value) {
  const std::int64_t width = c.constant("hkv") * c.constant("d");
  Tensor& v = find(inputs, "v_pages");
  for (std::int64_t row = 0; row < batch(); ++row) {
    const std::vector<std::int64_t> slots = slots_of(row);
    for (const std::int64_t slot : slots)
      for (std::int64_t i = 0; i < width; ++i)
        v.set(slot * width + i, slot == slots.back() ? value : 0.0);
  }
}

DecodeCase DecodeCase::only_row(std::int64_t row) const {
  DecodeCase result = *this;
  const std::int64_t begin = integer(find(inputs, "page_indptr"), row);
  const std::int64_t end = integer(find(inputs, "page_indptr"), row + 1);
  std::vector<std::int64_t> pages;
  for (std::int64_t i = begin; i < end; ++i)
    pages.push_back(integer(find(inputs, "page_indices"), i));
  find(result.inputs, "page_indptr") = integer_tensor({0, end - begin});
  find(result.inputs, "page_indices") = integer_tensor(pages);
  for (const char* name : {"q", "last_page_len", "first_page_offset"})
    find(result.inputs, name) = slice(find(inputs, name), row);
  return result;
}

DecodeCase DecodeCase::padded(std::int64_t slots) const {
  DecodeCase result = *this;
  for (const char* name : {"k_pages", "v_pages"})
    find(result.inputs, name) = widen(find(inputs, name), slots);
  return result;
}

SparsePool::SparsePool(Shape shape, Dtype dtype) : type_{dtype, std::move(shape)} {
  memory_ = ::mmap(nullptr, type_.bytes(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) throw std::runtime_error("no address space for " + type_.to_string());
}

SparsePool::~SparsePool() {
  ::munmap(memory_, type_.bytes());
}

DecodeRun::DecodeRun(Faults faults, BackendKind backend)
    : runtime_(make_runtime(backend, test::test_home() / "modules", faults)),
      arena_(std::make_unique<Arena>(runtime_->backend())) {}

PagedDecodeArgs DecodeRun::place(const DecodeCase& decode, Poison poison) {
  buffers_.clear();
  for (const NamedTensor& input : decode.inputs)
    buffers_.push_back({input.name, input.tensor.type(), input.tensor.bytes()});
  const TensorType q = find(decode.inputs, "q").type();
  buffers_.push_back({"out", {decode.c.dtype("out"), q.shape}, {}});
  buffers_.push_back({"lse", {Dtype::f32, {q.shape[0], q.shape[1]}}, {}});
  const DeviceTensors placed = arena_->begin(buffers_, poison);
  PagedDecodeArgs args = paged_decode_args(decode.c, placed);
  args.k.pages.type.shape[1] = args.page_size;
  args.v.pages.type.shape[1] = args.page_size;
  return args;
}

Decoded DecodeRun::decode(const DecodeCase& decode, Split split) {
  Decoded result = decode_amid(Poison::ones, decode, split);
  const Decoded again = decode_amid(Poison::high, decode, split);
  EXPECT_EQ(again.out, result.out);
  EXPECT_EQ(again.lse, result.lse);
  return result;
}

Decoded DecodeRun::decode_amid(Poison poison, const DecodeCase& decode, Split split) {
  const PagedDecodeArgs args = place(decode, poison);
  if (split) {
    const PagedDecodeV2Plan plan(*runtime_, args, read_page_table(runtime_->backend(), args.table),
                                 *split);
    paged_decode_v2(*runtime_, args, plan);
    runtime_->backend().synchronize();  // before the plan goes
    return outputs();
  }
  return decode_placed(args);
}

Decoded DecodeRun::decode_placed(const PagedDecodeArgs& args) {
  paged_decode_v1(*runtime_, args);
  runtime_->backend().synchronize();
  return outputs();
}

Decoded DecodeRun::outputs() {
  ArenaReport report = arena_->inspect();
  EXPECT_EQ(report.unwritten, 0);
  EXPECT_EQ(report.broken_guards, std::vector<std::string>{});
  EXPECT_EQ(report.changed_inputs, std::vector<std::string>{});
  return {find(report.outputs, "out"), find(report.outputs, "lse")};
}

Tensor DecodeRun::decode_one_page(const DeviceTensor& pool, std::int64_t page,
                                  std::int64_t stride) {
  const Shape& shape = pool.type.shape;
  Tensor content(pool.type.dtype, {shape[1], shape[2], shape[3]});
  fill_normal(content, 1, "content");
  const std::size_t bytes = content.bytes().size();
  auto* const at =
      static_cast<std::byte*>(pool.data) + static_cast<std::size_t>(page * stride) * bytes;
  runtime_->backend().copy_in(at, std::as_const(content).bytes());

  DecodeCase decode(fmt::format("q=bf16,k=bf16,v=bf16/d={},hq={},hkv={},page={}/short", shape[3],
                                shape[2], shape[2], shape[1]));
  decode = decode.only_row(0);
  find(decode.inputs, "page_indices") = integer_tensor({page});
  find(decode.inputs, "last_page_len") = integer_tensor({shape[1]});
  PagedDecodeArgs args = place(decode);
  args.k = args.v = PagePool::contiguous(pool);
  for (PagePool* const each : {&args.k, &args.v}) {
    each->stride_page *= stride;
    each->pages.type.shape[0] /= stride;
  }
  Tensor out = decode_placed(args).out;
  runtime_->backend().fill(at, std::byte{0xff}, bytes);  // NaN for whoever reads it next
  return out;
}

void expect_right(const DecodeCase& decode, const Decoded& got) {
  const ReferenceResult want = decode.expectation();
  EXPECT_EQ(want.refused, "") << decode.c.id();
  for (const auto& [output, tensor] :
       {std::pair{want.outputs[0], got.out}, {want.outputs[1], got.lse}}) {
    const Judgement judgement = judge_output(output, tensor);
    EXPECT_NE(judgement.verdict, Verdict::failed) << decode.c.id() << ": " << judgement.detail;
    EXPECT_LE(judgement.error, judgement.tolerance) << decode.c.id();
  }
}

}  // namespace parity
