// paged_decode_sparse: against its reference and the dense kernel, at its
// edges, and what it refuses.
#include "device/paged_decode_sparse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "device/paged_decode_v1.hpp"
#include "harness/kernels/paged_decode_cases.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"
#include "tests/kernel_run.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string id(const std::string& rest) {
  return "paged_decode_sparse/" + rest;
}

TEST(PagedDecodeSparseTest, AgreesWithTheReferenceForEveryHeadDimAndRecipe) {
  KernelRun run;
  expect_right(run, id("q=f32,k=f32,v=f32/d=8,hq=1,hkv=1/ragged"));
  expect_right(run, id("q=f16,k=bf16,v=f32/d=96,hq=12,hkv=4/offset"));
  expect_right(run, id("q=bf16,k=f32,v=f16/d=40,hq=4,hkv=2/exact"));
  expect_right(run, id("q=f32,k=f16,v=bf16/d=256,hq=8,hkv=1/short"));
}

TEST(PagedDecodeSparseTest, AgreesWithTheReferenceForSpecialValues) {
  KernelRun run;
  expect_right(run, id("q=f32,k=f32,v=f16/d=64,hq=4,hkv=2/nan"));
  expect_right(run, id("q=f32,k=f32,v=f16/d=64,hq=2,hkv=1/empty"));
}

TEST(PagedDecodeSparseTest, AgreesWithTheReferenceForEightBitPoolsSoftcapsLayoutsAndF32Output) {
  KernelRun run;
  expect_right(run, id("q=bf16,k=e4m3,v=e5m2/d=64,hq=4,hkv=2,softcap=5/ragged"));
  expect_right(run, id("q=f16,out=f32,k=e5m2,v=e4m3/d=64,hq=4,hkv=2,layout=hnd/ragged"));
  expect_right(run, id("q=f32,k=f16,v=f16/d=64,hq=4,hkv=2,layout=interleaved/ragged"));
  expect_right(run, id("q=f32,k=f16,v=f16/d=64,hq=4,hkv=2,layout=padded/ragged"));
}

/// A8. Groups beyond 8 take several blocks.
TEST(PagedDecodeSparseTest, AGroupOfSeventyOneIsRight) {
  KernelRun run;
  expect_right(run, id("q=f32,k=f16,v=f32/d=64,hq=71,hkv=1/ragged"));
}

/// The second list of row 0 has all of its 2311 tokens, more than 512 a stream.
TEST(PagedDecodeSparseTest, LongListsStayInsideTheTolerance) {
  KernelRun run;
  expect_right(run, id("q=f32,k=f32,v=f32/d=256,hq=2,hkv=2/long"));
}

/// Which (slot, kv head) some list selects.
std::set<std::pair<std::int64_t, std::int64_t>> selected(const KernelCase& problem) {
  const std::vector<std::int64_t> indptr = integers_of(find(problem.inputs, "page_indptr"));
  const std::vector<std::int64_t> slots = integers_of(find(problem.inputs, "page_indices"));
  std::set<std::pair<std::int64_t, std::int64_t>> result;
  for (std::size_t list = 0; list + 1 < indptr.size(); ++list)
    for (std::int64_t i = indptr[list]; i < indptr[list + 1]; ++i)
      result.emplace(slots[static_cast<std::size_t>(i)],
                     static_cast<std::int64_t>(list) % problem.c.constant("hkv"));
  return result;
}

/// A1: of other kv heads too.
TEST(PagedDecodeSparseTest, WhatNoListSelectsNeverChangesABit) {
  KernelRun run;
  KernelCase problem(id("q=bf16,k=bf16,v=bf16/d=64,hq=8,hkv=2/ragged"));
  const TensorList clean = run.run(problem);
  const auto used = selected(problem);
  for (const double value : {0.0, kNan, kInfinity, 6e4}) {
    for (const char* pool : {"k_pages", "v_pages"}) {
      Tensor& tensor = find(problem.inputs, pool);
      for (std::int64_t i = 0; i < tensor.elements(); ++i)
        if (!used.contains({i / 128, i / 64 % 2})) tensor.set(i, value);
    }
    const TensorList filled = run.run(problem);
    EXPECT_EQ(find(filled, "out"), find(clean, "out")) << value;
    EXPECT_EQ(find(filled, "lse"), find(clean, "lse")) << value;
  }
}

/// The worst error over elements of a row, as a share of the row's norm.
double row_error(const Tensor& got, const Tensor& want, std::int64_t row, std::int64_t d) {
  double error = 0, norm = 0;
  for (std::int64_t i = row * d; i < (row + 1) * d; ++i) {
    error += (got.at(i) - want.at(i)) * (got.at(i) - want.at(i));
    norm += want.at(i) * want.at(i);
  }
  return std::sqrt(error / norm);
}

/// The negative control: attending to all of a row's slots is another answer wherever some are left
/// out, and the same bits where none is.
TEST(PagedDecodeSparseTest, ADenseRunDiffersExactlyWhereSlotsAreLeftOut) {
  KernelRun run;
  const std::string shape = "q=f32,k=f32,v=f32/d=64,hq=2,hkv=2";
  const KernelCase sparse(id(shape + "/ragged"));
  KernelCase dense = sparse;
  dense.inputs = paged_decode_inputs(sparse.c);
  const TensorList got = run.run(sparse);
  const TensorList all = run.run(dense, [&](Runtime& runtime, const DeviceTensors& buffers) {
    paged_decode_v1(runtime, paged_decode_args(dense.c, buffers));
  });
  const std::vector<std::int64_t> lists = integers_of(find(sparse.inputs, "page_indptr"));
  const std::vector<std::int64_t> rows = integers_of(find(dense.inputs, "page_indptr"));
  int complete = 0, partial = 0;
  for (std::int64_t list = 0; list < 10; ++list) {
    const auto at = static_cast<std::size_t>(list);
    const std::int64_t chosen = lists[at + 1] - lists[at];
    const std::int64_t tokens = rows[at / 2 + 1] - rows[at / 2];
    if (chosen == tokens) {
      ++complete;
      EXPECT_EQ(find(got, "lse").at(list), find(all, "lse").at(list)) << list;
      for (std::int64_t i = list * 64; i < (list + 1) * 64; ++i)
        EXPECT_EQ(find(got, "out").at(i), find(all, "out").at(i)) << i;
    } else if (chosen > 0) {
      ++partial;
      EXPECT_GT(row_error(find(all, "out"), find(got, "out"), list, 64), 1e-2) << list;
    } else {
      EXPECT_EQ(find(got, "lse").at(list), -kInfinity) << list;
    }
  }
  EXPECT_GE(complete, 4);
  EXPECT_GE(partial, 3);
}

/// B8.
TEST(PagedDecodeSparseTest, ARowsBitsDoNotDependOnTheOthers) {
  KernelRun run;
  const KernelCase problem(id("q=f32,k=f32,v=f16/d=64,hq=4,hkv=2/ragged"));
  const TensorList all = run.run(problem);
  const std::vector<std::int64_t> indptr = integers_of(find(problem.inputs, "page_indptr"));
  const std::vector<std::int64_t> slots = integers_of(find(problem.inputs, "page_indices"));
  for (std::int64_t row = 0; row < 5; ++row) {
    KernelCase alone = problem;
    const std::size_t list = static_cast<std::size_t>(row) * 2;
    const std::int64_t begin = indptr[list];
    find(alone.inputs, "q") = one_row(find(problem.inputs, "q"), row);
    find(alone.inputs, "page_indptr") =
        integer_tensor({0, indptr[list + 1] - begin, indptr[list + 2] - begin});
    find(alone.inputs, "page_indices") =
        integer_tensor({slots.begin() + begin, slots.begin() + indptr[list + 2]});
    const TensorList one = run.run(alone);
    for (const char* output : {"out", "lse"})
      EXPECT_EQ(row_bytes(find(one, output), 0), row_bytes(find(all, output), row)) << row;
  }
}

/// A10: 32,768 rows of two kv heads, each with a slot of its own.
TEST(PagedDecodeSparseTest, ABatchBeyond65535IsComputed) {
  constexpr std::int64_t kRows = 32768;
  KernelRun run;
  const auto rows_of_one_slot = [](std::int64_t rows) {
    KernelCase problem(id("q=f32,k=f32,v=f32/d=8,hq=2,hkv=2/short"));
    const Tensor q = one_row(find(problem.inputs, "q"), 0);
    Tensor many(q.dtype(), {rows, 2, 8});
    for (std::int64_t i = 0; i < many.elements(); ++i) many.set(i, q.at(i % 16));
    std::vector<std::int64_t> indptr, slots;
    for (std::int64_t list = 0; list < 2 * rows; ++list) {
      indptr.push_back(list);
      slots.push_back(list % 2 == 0 ? 3 : 5);
    }
    indptr.push_back(2 * rows);
    // Whatever the recipe left in those slots.
    for (const char* pool : {"k_pages", "v_pages"}) {
      Tensor& tensor = find(problem.inputs, pool);
      for (std::int64_t i = 0; i < tensor.elements(); ++i)
        tensor.set(i, static_cast<double>(i % 7) / 8);
    }
    find(problem.inputs, "q") = many;
    find(problem.inputs, "page_indptr") = integer_tensor(indptr);
    find(problem.inputs, "page_indices") = integer_tensor(slots);
    return problem;
  };
  const TensorList got = run.run(rows_of_one_slot(kRows));
  const TensorList one = run.run(rows_of_one_slot(1));
  ASSERT_NE(find(one, "out").at(0), find(one, "out").at(8)) << "the heads differ";
  for (std::int64_t list = 0; list < 2 * kRows; ++list) {
    ASSERT_EQ(find(got, "lse").at(list), find(one, "lse").at(list % 2)) << list;
    ASSERT_EQ(find(got, "out").at(list * 8), find(one, "out").at(list % 2 * 8)) << list;
  }
}

TEST(PagedDecodeSparseTest, TheModuleKeyHoldsAllThatTheTextDependsOn) {
  EXPECT_EQ(
      paged_decode_sparse_variant({Dtype::bf16, Dtype::f32, Dtype::f16, Dtype::e4m3, 96, 5, true})
          .canonical(),
      "paged_decode_sparse<D=96,GROUP=8,SOFTCAP=1,TILE=4>(q=bf16,out=f32,k=f16,v=e4m3)");
}

PagedDecodeArgs args_of(const KernelCase& problem, const DeviceTensors& buffers) {
  PagedDecodeArgs args = paged_decode_args_without_table(problem.c, buffers);
  args.table.indptr = buffers.at("page_indptr");
  args.table.indices = buffers.at("page_indices");
  return args;
}

/// What is said of the arguments of a sound case after `change`, in one line.
void expect_refusal(const std::string& named, const std::function<void(PagedDecodeArgs&)>& change) {
  KernelRun run;
  const KernelCase problem(id("q=f32,k=f16,v=bf16/d=64,hq=4,hkv=2/ragged"));
  PagedDecodeArgs args = args_of(problem, run.place(problem));
  change(args);
  const std::string said = refusal_of([&] { paged_decode_sparse(run.runtime(), args); });
  EXPECT_NE(said.find(named), std::string::npos) << said;
  EXPECT_TRUE(run.runtime().modules().snapshot().empty()) << "a module was made for nothing";
}

TEST(PagedDecodeSparseTest, ArgumentsThatItCannotTakeAreRefused) {
  expect_refusal("page_size is 16, but must be 1: what is selected are slots",
                 [](auto& a) { a.page_size = 16; });
  expect_refusal("window is 4, but must be 0: selected slots have no order",
                 [](auto& a) { a.window = 4; });
  expect_refusal("page_indptr is i32[6], but must be i32[11]",
                 [](auto& a) { a.table.indptr.type.shape = {6}; });
  expect_refusal("page_indices is i64[", [](auto& a) { a.table.indices.type.dtype = Dtype::i64; });
  expect_refusal("last_page_len is given", [](auto& a) { a.table.last_page_len = a.table.indptr; });
  expect_refusal("first_page_offset is given",
                 [](auto& a) { a.table.first_page_offset = a.table.indptr; });
  expect_refusal("q is e4m3", [](auto& a) { a.q.type.dtype = Dtype::e4m3; });
  expect_refusal("out lies on v,", [](auto& a) { a.out.data = a.v.pages.data; });
  expect_refusal("lse lies on page_indptr,", [](auto& a) { a.lse.data = a.table.indptr.data; });
  expect_refusal("lse lies on page_indices,", [](auto& a) { a.lse.data = a.table.indices.data; });
  expect_refusal("k_scale is 2", [](auto& a) { a.k_scale = 2.0f; });
  expect_refusal("tile is 3", [](auto& a) { a.tile = 3; });
}

std::string list_refusal(const std::string& array, std::int64_t index, double value) {
  KernelRun run;
  KernelCase problem(id("q=f32,k=f16,v=bf16/d=64,hq=4,hkv=2/ragged"));
  find(problem.inputs, array).set(index, value);
  const PagedDecodeArgs args = args_of(problem, run.place(problem));
  return refusal_of([&] { paged_decode_sparse(run.runtime(), args); });
}

/// A11.
TEST(PagedDecodeSparseTest, ACheckedRunRefusesListsWithTheirRowAndHead) {
  const KernelCase problem(id("q=f32,k=f16,v=bf16/d=64,hq=4,hkv=2/ragged"));
  const std::vector<std::int64_t> indptr = integers_of(find(problem.inputs, "page_indptr"));
  const std::vector<std::int64_t> slots = integers_of(find(problem.inputs, "page_indices"));
  const auto second_list = static_cast<std::size_t>(indptr[1]);
  EXPECT_EQ(list_refusal("page_indices", indptr[1] + 3, static_cast<double>(slots[second_list])),
            "paged_decode_sparse: page_indices[" + std::to_string(indptr[1]) + "] and [" +
                std::to_string(indptr[1] + 3) + "] of row 0, kv head 1 both select slot " +
                std::to_string(slots[second_list]) + "; name it once");
  EXPECT_EQ(list_refusal("page_indices", indptr[1] + 3, 117),
            "paged_decode_sparse: page_indices[" + std::to_string(indptr[1] + 3) +
                "] of row 0, kv head 1 is 117, but the smaller pool has 117 slots");
  EXPECT_NE(list_refusal("page_indices", 0, -1).find("of row 0, kv head 0 is -1"),
            std::string::npos);
  EXPECT_NE(list_refusal("page_indptr", 1, 1000).find("page_indptr falls from 1000"),
            std::string::npos);
  EXPECT_NE(list_refusal("page_indptr", 0, 1).find("page_indptr must begin with 0"),
            std::string::npos);
  EXPECT_NE(list_refusal("page_indptr", 10, 1000).find("page_indptr ends at 1000"),
            std::string::npos);
}

TEST(PagedDecodeSparseTest, TwoHeadsMaySelectOneSlot) {
  KernelRun run;
  const KernelCase problem(id("q=f32,k=f32,v=f32/d=64,hq=2,hkv=2/ragged"));
  const std::vector<std::int64_t> indptr = integers_of(find(problem.inputs, "page_indptr"));
  const std::vector<std::int64_t> slots = integers_of(find(problem.inputs, "page_indices"));
  const std::set<std::int64_t> first(slots.begin(), slots.begin() + indptr[1]);
  const std::set<std::int64_t> second(slots.begin() + indptr[1], slots.begin() + indptr[2]);
  EXPECT_TRUE(std::ranges::includes(second, first)) << "all of the row's slots, and half of them";
  const PagedDecodeArgs args = args_of(problem, run.place(problem));
  EXPECT_EQ(paged_decode_sparse(run.runtime(), args), "sparse bucket=1 threads=128");
}

}  // namespace
}  // namespace parity
