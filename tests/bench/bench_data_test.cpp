// Bench inputs are what the benches say of them, and an output that proves nothing is refused.
#include "tests/bench/bench_data.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <span>

#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr DecodeShape kShape{
    .rows = 3, .tokens = 50, .heads = 8, .kv_heads = 2, .head_dim = 64, .page_size = 16};

TEST(BenchDataTest, EveryCopyIsAValidProblemOnPagesOfItsOwn) {
  const auto backend = make_host_backend();
  const std::size_t pool = 2 * 3 * 4 * 16 * 2 * 64 * 2;  // k and v of one copy
  const DecodeData data(*backend, kShape, 4 * pool + 1);
  ASSERT_EQ(data.copies(), 5u);
  std::set<std::int32_t> pages;
  for (std::size_t copy = 0; copy < data.copies(); ++copy) {
    const PagedDecodeArgs args = data.args(copy);
    EXPECT_NO_THROW(check_paged_decode_args(args));
    const HostPageTable table = read_page_table(*backend, args.table);
    EXPECT_NO_THROW(check_page_table(table, args));
    EXPECT_EQ(table.indices, data.table(copy).indices);
    EXPECT_EQ(table.last_page_len, (std::vector<std::int32_t>{2, 2, 2}));
    pages.insert(table.indices.begin(), table.indices.end());
  }
  EXPECT_EQ(pages.size(), 5u * 12u);
  EXPECT_EQ(DecodeData(*backend, kShape, 0).copies(), 2u);
}

TEST(BenchDataTest, BytesAreThoseOfEveryTensorOnce) {
  const std::size_t kv = 2 * 3 * 50 * 2 * 64 * 2;
  const std::size_t q_and_out = 2 * 3 * 8 * 64 * 2;
  const std::size_t lse = 3 * 8 * 4;
  const std::size_t table = (4 + 12 + 3 + 3) * 4;
  EXPECT_EQ(kShape.bytes(), kv + q_and_out + lse + table);
  const auto backend = make_host_backend();
  const MergeData merge(*backend, {0, 2, 3}, 8, 64, 0);
  EXPECT_EQ(merge.bytes(), 3u * 8 * 64 * 4 + 3 * 8 * 4 + 3 * 4 + 2 * 8 * 64 * 2 + 2 * 8 * 4);
}

TEST(BenchDataTest, PatternIsFiniteToItsEndAndNeverAlikeTokenByToken) {
  const auto backend = make_host_backend();
  const TensorType type{Dtype::bf16, {300000}};
  DeviceBuffer memory(*backend, type.bytes());
  backend->fill(memory.data(), std::byte{0xff}, memory.bytes());
  fill_pattern(*backend, {type, memory.data()});
  EXPECT_NO_THROW(require_plausible(*backend, "pattern", {type, memory.data()}));
  Tensor got(type);
  backend->copy_out(got.bytes(), memory.data());
  EXPECT_EQ(got.at(131071 + 5), got.at(5));
  int alike = 0;
  for (std::int64_t i = 0; i < 1024; ++i) alike += got.at(i) == got.at(200 * 1024 + i);
  EXPECT_LT(alike, 64);
}

// A bench of a kernel that writes nothing, or nothing but zeros, must fail.
TEST(BenchDataTest, AnOutputThatProvesNothingIsRefused) {
  const auto backend = make_host_backend();
  const TensorType type{Dtype::f32, {4}};
  DeviceBuffer memory(*backend, type.bytes());
  const DeviceTensor out{type, memory.data()};
  const auto holds = [&](std::vector<float> values) {
    backend->copy_in(memory.data(), std::as_bytes(std::span(values)));
    return out;
  };
  EXPECT_NO_THROW(require_plausible(*backend, "out", holds({0, 0, 1, 0})));
  EXPECT_THROW(require_plausible(*backend, "out", holds({0, 0, 0, 0})), DeviceError);
  EXPECT_THROW(require_plausible(*backend, "out", holds({1, 2, 3, NAN})), DeviceError);
  EXPECT_THROW(require_plausible(*backend, "out", holds({1, -INFINITY, 3, 4})), DeviceError);
  backend->fill(memory.data(), std::byte{0xff}, memory.bytes());
  EXPECT_THROW(require_plausible(*backend, "out", out), DeviceError);
}

}  // namespace
}  // namespace parity
