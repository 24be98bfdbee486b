// paged_decode_cascade: against flat decode at every split, and how its rows
// are cut into blocks.
#include "device/paged_decode_cascade.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "device/paged_decode_v1.hpp"
#include "device/paged_decode_v2.hpp"
#include "harness/kernels/paged_decode_cascade_inputs.hpp"
#include "harness/kernels/paged_decode_cases.hpp"
#include "tests/kernel_run.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A case of pages per chunk `ppc`; `shape` is "q=f32,k=f32,v=f32/d=64,hq=4,hkv=2,page=8".
KernelCase cascade(const std::string& shape, const std::string& ppc, const std::string& recipe) {
  return KernelCase(fmt::format("paged_decode_cascade/{},ppc={}/{}", shape, ppc, recipe));
}

void expect_right_at_every_split(KernelRun& run, const std::string& shape,
                                 const std::string& recipe) {
  for (const char* ppc : {"1", "2", "7", "100000", "auto"}) {
    SCOPED_TRACE(ppc);
    const KernelCase problem = cascade(shape, ppc, recipe);
    expect_right(problem, run.run(problem));
  }
}

TEST(PagedDecodeCascadeTest, AgreesWithFlatDecodeAtEverySplit) {
  KernelRun run;
  expect_right_at_every_split(run, "q=f32,k=f16,v=bf16/d=64,hq=4,hkv=2,page=8", "shared");
  expect_right_at_every_split(run, "q=bf16,k=f32,v=f16/d=96,hq=3,hkv=3,page=1", "ragged");
  expect_right_at_every_split(run, "q=f16,k=bf16,v=f32/d=8,hq=5,hkv=1,page=16", "exact");
}

TEST(PagedDecodeCascadeTest, AgreesWithFlatDecodeForSpecialValues) {
  KernelRun run;
  expect_right_at_every_split(run, "q=f32,k=f32,v=f16/d=64,hq=4,hkv=2,page=1", "nan");
  expect_right_at_every_split(run, "q=f32,k=f32,v=f16/d=64,hq=2,hkv=1,page=16", "empty");
}

TEST(PagedDecodeCascadeTest, AgreesWithFlatDecodeForPoolsSoftcapsLayoutsAndLongPrefixes) {
  KernelRun run;
  for (const char* id :
       {"q=bf16,k=e4m3,v=e5m2/d=64,hq=4,hkv=2,page=8,softcap=5,ppc=2/shared",
        "q=f16,out=f32,k=e5m2,v=e4m3/d=64,hq=4,hkv=2,page=8,layout=hnd,ppc=1/shared",
        "q=f32,k=f16,v=f16/d=64,hq=4,hkv=2,page=8,layout=interleaved,ppc=2/exact",
        "q=f32,k=f32,v=f32/d=256,hq=8,hkv=1,page=1,ppc=100000/long",
        "q=f32,k=f32,v=f32/d=64,hq=2,hkv=2,page=2,ppc=1/short"})
    expect_right(run, std::string("paged_decode_cascade/") + id);
}

/// A8. Blocks of eight heads begin and end inside rows.
TEST(PagedDecodeCascadeTest, AnyGroupSizeIsRight) {
  KernelRun run;
  for (const int group : {1, 3, 5, 7, 12, 71})
    expect_right(run, fmt::format("paged_decode_cascade/q=f32,k=f16,v=bf16/d=64,hq={},hkv=1,page=8,"
                                  "ppc=2/shared",
                                  group));
}

/// The rows of `problem` as paged_decode_v1 and v2 take them.
KernelCase flat(const KernelCase& problem) {
  KernelCase result = problem;
  FlatPageTable table = flatten(cascade_table(problem.inputs), problem.c.constant("page"));
  find(result.inputs, "page_indptr") = table.page_indptr;
  find(result.inputs, "page_indices") = table.page_indices;
  find(result.inputs, "last_page_len") = table.last_page_len;
  find(result.inputs, "first_page_offset") = table.first_page_offset;
  return result;
}

double difference(const Tensor& a, const Tensor& b) {
  double worst = 0.0;
  for (std::int64_t i = 0; i < a.elements(); ++i)
    if (a.at(i) != b.at(i)) worst = std::max(worst, std::abs(a.at(i) - b.at(i)));
  return worst;
}

TEST(PagedDecodeCascadeTest, EverySplitAgreesWithVersionOneOverTheFlatTable) {
  KernelRun run;
  for (const char* ppc : {"1", "2", "100000", "auto"}) {
    const KernelCase problem = cascade("q=f32,k=f16,v=bf16/d=64,hq=4,hkv=1,page=8", ppc, "shared");
    const KernelCase dense = flat(problem);
    const TensorList got = run.run(problem);
    const TensorList one = run.run(dense, [&](Runtime& runtime, const DeviceTensors& buffers) {
      paged_decode_v1(runtime, paged_decode_args(dense.c, buffers));
    });
    EXPECT_LE(difference(find(got, "out"), find(one, "out")), 1e-5) << ppc;
    EXPECT_LE(difference(find(got, "lse"), find(one, "lse")), 1e-5) << ppc;
  }
}

/// The case without its prefixes: every group is what its rows have of their own.
KernelCase without_prefixes(KernelCase problem) {
  Tensor& indptr = find(problem.inputs, "prefix_indptr");
  indptr = Tensor(indptr.type());
  find(problem.inputs, "prefix_indices") = integer_tensor({});
  return problem;
}

TEST(PagedDecodeCascadeTest, WithoutPrefixesItGivesTheBitsOfVersionTwo) {
  KernelRun run;
  for (const std::int64_t ppc : {1, 3, 100000}) {
    const KernelCase problem = without_prefixes(
        cascade("q=f32,k=f16,v=bf16/d=64,hq=4,hkv=2,page=8", std::to_string(ppc), "shared"));
    const TensorList got = run.run(problem);
    const TensorList two = run.run(problem, [&](Runtime& runtime, const DeviceTensors& buffers) {
      const PagedDecodeArgs args = paged_decode_args(problem.c, buffers);
      const PagedDecodeV2Plan plan(runtime, args, read_page_table(runtime.backend(), args.table),
                                   ppc);
      paged_decode_v2(runtime, args, plan);
      runtime.backend().synchronize();  // before the plan goes
    });
    EXPECT_EQ(find(got, "out"), find(two, "out")) << ppc;
    EXPECT_EQ(find(got, "lse"), find(two, "lse")) << ppc;
  }
}

/// Slots (page · page size + slot) that some row attends, of its own or in its group's prefix.
std::set<std::int64_t> attended_slots(const KernelCase& problem) {
  const KernelCase dense = flat(problem);
  const auto list = [&](const char* name) { return integers_of(find(dense.inputs, name)); };
  const std::vector<std::int64_t> indptr = list("page_indptr"), pages = list("page_indices"),
                                  last = list("last_page_len"), first = list("first_page_offset");
  const std::int64_t page_size = problem.c.constant("page");
  std::set<std::int64_t> slots;
  for (std::size_t row = 0; row < last.size(); ++row) {
    const std::int64_t end = (indptr[row + 1] - indptr[row] - 1) * page_size + last[row];
    for (std::int64_t at = first[row]; at < end; ++at)
      slots.insert(pages[static_cast<std::size_t>(indptr[row] + at / page_size)] * page_size +
                   at % page_size);
  }
  return slots;
}

/// A1.
TEST(PagedDecodeCascadeTest, UnattendedSlotsNeverChangeABit) {
  KernelRun run;
  for (const char* ppc : {"1", "100000"}) {
    KernelCase problem = cascade("q=bf16,k=bf16,v=bf16/d=64,hq=4,hkv=2,page=32", ppc, "shared");
    const std::set<std::int64_t> attended = attended_slots(problem);
    const TensorList clean = run.run(problem);
    for (const double tail : {0.0, std::numeric_limits<double>::quiet_NaN(), kInfinity, 6e4}) {
      std::int64_t filled = 0;
      for (const char* pool : {"k_pages", "v_pages"}) {
        Tensor& tensor = find(problem.inputs, pool);
        for (std::int64_t i = 0; i < tensor.elements(); ++i)
          if (!attended.contains(i / 128)) {
            tensor.set(i, tail);
            ++filled;
          }
      }
      EXPECT_GT(filled, 128 * 32) << "beside spare pages, tails";
      const TensorList tailed = run.run(problem);
      EXPECT_EQ(find(tailed, "out"), find(clean, "out")) << tail << " at ppc=" << ppc;
      EXPECT_EQ(find(tailed, "lse"), find(clean, "lse")) << tail << " at ppc=" << ppc;
    }
  }
}

/// A10: of one token each, behind one of another token that all share.
TEST(PagedDecodeCascadeTest, ABatchBeyond65535IsComputed) {
  constexpr std::int64_t kRows = 65536;
  KernelRun run;
  const auto rows_of_one_token = [](std::int64_t rows) {
    KernelCase problem = cascade("q=f32,k=f32,v=f32/d=8,hq=1,hkv=1,page=1", "1", "short");
    const Tensor q = one_row(find(problem.inputs, "q"), 0);
    const std::vector<std::int64_t> pages = integers_of(find(problem.inputs, "page_indices"));
    Tensor many(q.dtype(), {rows, 1, 8});
    for (std::int64_t i = 0; i < many.elements(); ++i) many.set(i, q.at(i % 8));
    const auto each = [&](std::int64_t value) {
      return integer_tensor(std::vector<std::int64_t>(static_cast<std::size_t>(rows), value));
    };
    std::vector<std::int64_t> indptr(static_cast<std::size_t>(rows) + 1);
    std::iota(indptr.begin(), indptr.end(), 0);
    find(problem.inputs, "q") = many;
    find(problem.inputs, "group_indptr") = integer_tensor({0, rows});
    find(problem.inputs, "prefix_indptr") = integer_tensor({0, 1});
    find(problem.inputs, "prefix_indices") = integer_tensor({pages.at(0)});
    find(problem.inputs, "page_indptr") = integer_tensor(indptr);
    find(problem.inputs, "page_indices") = each(pages.at(1));
    find(problem.inputs, "last_page_len") = each(1);
    find(problem.inputs, "first_page_offset") = each(0);
    return problem;
  };
  const TensorList got = run.run(rows_of_one_token(kRows));
  const TensorList one = run.run(rows_of_one_token(1));
  ASSERT_GT(find(one, "lse").at(0), -kInfinity);
  for (std::int64_t row = 0; row < kRows; ++row) {
    ASSERT_EQ(find(got, "lse").at(row), find(one, "lse").at(0)) << row;
    ASSERT_EQ(find(got, "out").at(row * 8), find(one, "out").at(0)) << row;
  }
}

/// One row with its group's prefix, and nobody else.
KernelCase only_row(const KernelCase& problem, std::int64_t row, std::int64_t group) {
  KernelCase alone = problem;
  const auto list = [&](const char* indptr, const char* indices, std::int64_t number) {
    const std::vector<std::int64_t> begins = integers_of(find(problem.inputs, indptr));
    const std::vector<std::int64_t> all = integers_of(find(problem.inputs, indices));
    const auto at = static_cast<std::size_t>(number);
    const std::int64_t count = begins[at + 1] - begins[at];
    find(alone.inputs, indptr) = integer_tensor({0, count});
    find(alone.inputs, indices) =
        integer_tensor({all.begin() + begins[at], all.begin() + begins[at + 1]});
  };
  list("prefix_indptr", "prefix_indices", group);
  list("page_indptr", "page_indices", row);
  find(alone.inputs, "group_indptr") = integer_tensor({0, 1});
  for (const char* name : {"q", "last_page_len", "first_page_offset"})
    find(alone.inputs, name) = one_row(find(problem.inputs, name), row);
  return alone;
}

/// B8. At group size 3 a row's heads stand at other places in their blocks when it is alone.
TEST(PagedDecodeCascadeTest, ARowsBitsDoNotDependOnTheOthers) {
  KernelRun run;
  constexpr std::array<std::int64_t, 6> kGroupOfRow = {0, 0, 0, 1, 2, 2};
  for (const char* ppc : {"1", "2"}) {
    const KernelCase problem = cascade("q=f32,k=f16,v=bf16/d=64,hq=6,hkv=2,page=8", ppc, "shared");
    const TensorList all = run.run(problem);
    for (std::int64_t row = 0; row < 6; ++row) {
      const std::int64_t group = kGroupOfRow[static_cast<std::size_t>(row)];
      const TensorList one = run.run(only_row(problem, row, group));
      for (const char* output : {"out", "lse"})
        EXPECT_EQ(row_bytes(find(one, output), 0), row_bytes(find(all, output), row))
            << output << " of row " << row << " at ppc=" << ppc;
    }
  }
}

/// Rows of one prefix and nothing else have equal answers where their queries are equal.
TEST(PagedDecodeCascadeTest, TwentyRowsOfOnePrefixAreEachRight) {
  KernelRun run;
  KernelCase problem = cascade("q=f32,k=f16,v=bf16/d=64,hq=3,hkv=1,page=8", "1", "shared");
  const Tensor q = one_row(find(problem.inputs, "q"), 0);
  Tensor many(q.dtype(), {20, 3, 64});
  for (std::int64_t i = 0; i < many.elements(); ++i) many.set(i, q.at(i % q.elements()));
  const std::vector<std::int64_t> prefixes = integers_of(find(problem.inputs, "prefix_indptr"));
  find(problem.inputs, "q") = many;
  find(problem.inputs, "group_indptr") = integer_tensor({0, 20});
  find(problem.inputs, "prefix_indptr") = integer_tensor({0, prefixes[1]});
  find(problem.inputs, "page_indptr") = integer_tensor(std::vector<std::int64_t>(21));
  for (const char* name : {"last_page_len", "first_page_offset"})
    find(problem.inputs, name) = integer_tensor(std::vector<std::int64_t>(20));
  const TensorList got = run.run(problem);
  for (std::int64_t row = 1; row < 20; ++row)
    for (const char* output : {"out", "lse"})
      EXPECT_EQ(row_bytes(find(got, output), row), row_bytes(find(got, output), 0)) << row;
  const KernelCase dense = flat(only_row(problem, 0, 0));
  const TensorList one = run.run(dense, [&](Runtime& runtime, const DeviceTensors& buffers) {
    paged_decode_v1(runtime, paged_decode_args(dense.c, buffers));
  });
  for (std::int64_t i = 0; i < 3 * 64; ++i)
    EXPECT_NEAR(find(got, "out").at(i), find(one, "out").at(i), 1e-5) << i;
  EXPECT_GT(find(got, "lse").at(0), -kInfinity);
}

}  // namespace
}  // namespace parity
