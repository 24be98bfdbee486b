// What paged decode refuses: each refusal names the argument, and nothing is launched.
#include "device/paged_decode_args.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "tests/paged_decode_run.hpp"
#include "tests/tensor_values.hpp"

namespace parity {
namespace {

/// What is said of the arguments of a sound case after `change`, in one line.
std::string refusal(DecodeRun& run, const std::function<void(PagedDecodeArgs&)>& change) {
  PagedDecodeArgs args = run.place(DecodeCase("q=f32,k=f16,v=bf16/d=64,hq=4,hkv=2,page=16/ragged"));
  change(args);
  try {
    paged_decode_v1(run.runtime(), args);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_refusal(const std::string& named, const std::function<void(PagedDecodeArgs&)>& change) {
  DecodeRun run;
  const std::string said = refusal(run, change);
  EXPECT_NE(said.find(named), std::string::npos) << said;
  EXPECT_TRUE(run.runtime().modules().snapshot().empty()) << "a module was made for nothing";
}

TEST(PagedDecodeArgsTest, SoundArgumentsAreAccepted) {
  DecodeRun run;
  EXPECT_EQ(refusal(run, [](PagedDecodeArgs&) {}), "accepted");
}

TEST(PagedDecodeArgsTest, UnsupportedDtypesAreRefused) {
  expect_refusal("q is e4m3", [](auto& a) { a.q.type.dtype = Dtype::e4m3; });
  expect_refusal("k is u8", [](auto& a) { a.k.pages.type.dtype = Dtype::u8; });
  expect_refusal("v is f64", [](auto& a) { a.v.pages.type.dtype = Dtype::f64; });
  expect_refusal("out is bf16", [](auto& a) { a.out.type.dtype = Dtype::bf16; });
  expect_refusal("lse is f16", [](auto& a) { a.lse.type.dtype = Dtype::f16; });
}

TEST(PagedDecodeArgsTest, ScalesSoftcapsAndWindowsThatMeanNothingAreRefused) {
  expect_refusal("k_scale is 0.5, but must be 1 for a tensor of f16",
                 [](auto& a) { a.k_scale = 0.5f; });
  expect_refusal("v_scale is 2, but must be 1 for a tensor of bf16",
                 [](auto& a) { a.v_scale = 2.0f; });
  expect_refusal("k_scale is nan", [](auto& a) {
    a.k.pages.type.dtype = Dtype::e4m3;
    a.k_scale = std::numeric_limits<float>::quiet_NaN();
  });
  expect_refusal("v_scale is 0", [](auto& a) {
    a.v.pages.type.dtype = Dtype::e5m2;
    a.v_scale = 0.0f;
  });
  expect_refusal("scale is inf", [](auto& a) { a.scale = std::numeric_limits<float>::infinity(); });
  expect_refusal("softcap is -1", [](auto& a) { a.softcap = -1.0f; });
  expect_refusal("softcap is inf",
                 [](auto& a) { a.softcap = std::numeric_limits<float>::infinity(); });
  expect_refusal("window is -1", [](auto& a) { a.window = -1; });
}

/// What kernels are given is infinite, 0 or short of bits: answers would be NaN or wrong.
TEST(PagedDecodeArgsTest, FactorsBeyondTheNormalNumbersAreRefused) {
  for (const float softcap : {2.4e38f, 3e38f, 1e-40f, 1.4e-45f})
    expect_refusal("softcap is ", [=](auto& a) { a.softcap = softcap; });
  expect_refusal("softcap is 0.0001, but scale * k_scale / softcap", [](auto& a) {
    a.softcap = 1e-4f;
    a.scale = 1e38f;
  });
  for (const float scale : {2.4e38f, -3e38f, 1e-40f, -1.4e-45f, 8e-39f})
    expect_refusal("scale is ", [=](auto& a) { a.scale = scale; });
  for (const float k_scale : {1e30f, 1e-40f})
    expect_refusal("and k_scale ", [=](auto& a) {
      a.k.pages.type.dtype = Dtype::e4m3;
      a.k_scale = k_scale;
      a.scale = k_scale > 1 ? 1e10f : 1.0f;
    });
}

TEST(PagedDecodeArgsTest, FactorsAtTheEdgeOfTheNormalNumbersAreComputed) {
  DecodeRun run;
  const DecodeCase decode("q=f32,k=f16,v=bf16/d=64,hq=4,hkv=2,page=16/ragged");
  const auto lse = [&](float scale, float softcap) {
    PagedDecodeArgs args = run.place(decode);
    args.scale = scale;
    args.softcap = softcap;
    paged_decode_v1(run.runtime(), args);
    return values_of(run.outputs().lse);
  };
  const auto expect_near = [](const std::vector<double>& got, const std::vector<double>& want) {
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (got.at(i) == want[i]) continue;  // also -inf
      EXPECT_NEAR(got[i], want[i], 1e-5 + 1e-6 * std::abs(want[i])) << i;
    }
  };
  const std::vector<double> equal_scores = lse(0.0f, 0.0f);
  expect_near(lse(4.0f, 2.3e38f), lse(4.0f, 0.0f));
  expect_near(lse(-1.0f, 1e-37f), equal_scores);
  expect_near(lse(8.2e-39f, 0.0f), equal_scores);
  EXPECT_EQ(refusal(run, [](auto& a) { a.scale = 2.3e38f; }), "accepted");
}

/// Blocks run in any order: where an output lies on an input, some read what others have written.
TEST(PagedDecodeArgsTest, OutputsThatLieOnOtherArgumentsAreRefused) {
  expect_refusal("out lies on q,", [](auto& a) { a.out.data = a.q.data; });
  expect_refusal("out lies on k,", [](auto& a) { a.out.data = a.k.pages.data; });
  expect_refusal("out lies on v,", [](auto& a) {
    // In its last page, behind what its first holds.
    a.out.data = static_cast<char*>(a.v.pages.data) + a.v.pages.type.bytes() - 256;
  });
  expect_refusal("lse lies on out,", [](auto& a) {
    a.lse.data = static_cast<char*>(a.out.data) + a.out.type.bytes() - 4;
  });
  expect_refusal("lse lies on page_indptr,", [](auto& a) { a.lse.data = a.table.indptr.data; });
  expect_refusal("lse lies on page_indices,", [](auto& a) { a.lse.data = a.table.indices.data; });
  expect_refusal("lse lies on last_page_len,",
                 [](auto& a) { a.lse.data = a.table.last_page_len.data; });
  expect_refusal("lse lies on first_page_offset,",
                 [](auto& a) { a.lse.data = a.table.first_page_offset.data; });
}

TEST(PagedDecodeArgsTest, OutputsBesideOtherArgumentsAndInputsOnEachOtherAreAccepted) {
  DecodeRun run;
  PagedDecodeArgs args = run.place(DecodeCase("q=f32,k=f16,v=bf16/d=64,hq=4,hkv=2,page=16/ragged"));
  args.v = args.k;
  args.out.data = args.k.pages.data;  // k gives up as much as out needs
  args.k.pages.data = static_cast<char*>(args.k.pages.data) + args.out.type.bytes();
  args.v.pages.data = args.k.pages.data;
  check_paged_decode_args(args);
  args.out.data = static_cast<char*>(args.out.data) + 16;
  EXPECT_THROW(check_paged_decode_args(args), UsageError) << "one piece further";
}

TEST(PagedDecodeArgsTest, IndexArraysCarryTheirDtype) {
  expect_refusal("page_indptr is i64", [](auto& a) { a.table.indptr.type.dtype = Dtype::i64; });
  expect_refusal("page_indices is i64", [](auto& a) { a.table.indices.type.dtype = Dtype::i64; });
  expect_refusal("last_page_len is i64",
                 [](auto& a) { a.table.last_page_len.type.dtype = Dtype::i64; });
  expect_refusal("first_page_offset is i64",
                 [](auto& a) { a.table.first_page_offset.type.dtype = Dtype::i64; });
}

TEST(PagedDecodeArgsTest, ShapesThatDoNotAgreeAreRefused) {
  expect_refusal("page_indptr", [](auto& a) { a.table.indptr.type.shape = {5}; });
  expect_refusal("last_page_len", [](auto& a) { a.table.last_page_len.type.shape = {6}; });
  expect_refusal("v is", [](auto& a) { a.v.pages.type.shape[3] = 128; });
  expect_refusal("k is", [](auto& a) { a.page_size = 8; });
  expect_refusal("lse is", [](auto& a) { a.lse.type.shape = {5, 3}; });
  expect_refusal("out is", [](auto& a) { a.out.type.shape[0] = 4; });
  expect_refusal("q is", [](auto& a) { a.q.type.shape = {20, 64}; });
}

TEST(PagedDecodeArgsTest, SizesOutsideTheLimitsAreRefused) {
  expect_refusal("kv_heads = 3", [](auto& a) { a.kv_heads = 3; });
  expect_refusal("kv_heads is 0", [](auto& a) { a.kv_heads = 0; });
  expect_refusal("page_size is 0", [](auto& a) { a.page_size = 0; });
  expect_refusal("head_dim of q is 60", [](auto& a) { a.q.type.shape[2] = 60; });
  expect_refusal("head_dim of q is 264", [](auto& a) { a.q.type.shape[2] = 264; });
}

TEST(PagedDecodeArgsTest, MemoryThatVectorLoadsCannotReadIsRefused) {
  expect_refusal("k.stride_page", [](auto& a) { a.k.stride_page += 4; });
  expect_refusal("v.stride_slot", [](auto& a) { a.v.stride_slot = -128; });
  expect_refusal("v.stride_head", [](auto& a) { a.v.stride_head = 65; });
  expect_refusal("q must be aligned", [](auto& a) { a.q.data = static_cast<char*>(a.q.data) + 8; });
  expect_refusal("v must be aligned",
                 [](auto& a) { a.v.pages.data = static_cast<char*>(a.v.pages.data) + 2; });
  expect_refusal("k has no memory", [](auto& a) { a.k.pages.data = nullptr; });
}

/// The refusal after setting one entry of a page table array, for 16 slots a page and the rows of
/// the recipe ragged: 3, 0, 1, 3 and 2 pages.
std::string table_refusal(const std::string& array, std::int64_t index, int value) {
  DecodeRun run;
  DecodeCase decode("q=f32,k=f32,v=f32/d=64,hq=1,hkv=1,page=16/ragged");
  find(decode.inputs, array).set(index, value);
  try {
    paged_decode_v1(run.runtime(), run.place(decode));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_table_refusal(const std::string& named, const std::string& array, std::int64_t index,
                          int value) {
  const std::string said = table_refusal(array, index, value);
  EXPECT_NE(said.find(named), std::string::npos) << said;
}

/// A11.
TEST(PagedDecodeArgsTest, LastPageLenBeyondThePageIsRefusedWithItsRow) {
  expect_table_refusal("last_page_len of row 3 is 17", "last_page_len", 3, 17);
  expect_table_refusal("last_page_len of row 0 is 0", "last_page_len", 0, 0);
  expect_table_refusal("last_page_len of row 4 is -1", "last_page_len", 4, -1);
  expect_table_refusal("last_page_len of row 1 without pages is 1", "last_page_len", 1, 1);
}

TEST(PagedDecodeArgsTest, FirstPageOffsetBeyondThePageOrTheRowIsRefused) {
  expect_table_refusal("first_page_offset of row 0 is 16", "first_page_offset", 0, 16);
  expect_table_refusal("first_page_offset of row 4 is -1", "first_page_offset", 4, -1);
  expect_table_refusal("first_page_offset of row 1 without pages is 3", "first_page_offset", 1, 3);
}

TEST(PagedDecodeArgsTest, ANegativeSequenceLengthIsRefused) {
  // Row 2 has one page: 15 slots before its token, which is the sixteenth.
  expect_table_refusal("first_page_offset of row 2 is 15, more than the row's 3 slots",
                       "last_page_len", 2, 3);
}

TEST(PagedDecodeArgsTest, PagesThatDoNotExistAreRefused) {
  expect_table_refusal("page_indices[0] of row 0 is -1", "page_indices", 0, -1);
  expect_table_refusal("page_indices[3] of row 2 is 11", "page_indices", 3, 11);
}

TEST(PagedDecodeArgsTest, AnIndptrThatFallsOrOverrunsIsRefused) {
  expect_table_refusal("page_indptr falls from 9 to 3 in row 1", "page_indptr", 1, 9);
  expect_table_refusal("page_indptr must begin with 0", "page_indptr", 0, 1);
  expect_table_refusal("page_indptr ends at 10", "page_indptr", 5, 10);
}

}  // namespace
}  // namespace parity
