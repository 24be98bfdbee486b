// The read-only ceiling reads all that it claims to: its fold is the xor of every word, at any size
// and grid.
#include "device/read_stream.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "datasets/errors.hpp"
#include "datasets/fill.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

class ReadStreamTest : public testing::Test {
 protected:
  /// One for all sizes: the module is compiled once.
  ReadStreamTest() : runtime_(make_runtime(BackendKind::host, folder_.path())) {}

  void expect_xor(std::int64_t bytes, std::int64_t blocks) {
    const auto words = static_cast<std::size_t>(bytes / 4);
    DeviceBuffer input(runtime_->backend(), static_cast<std::size_t>(bytes));
    DeviceBuffer sums(runtime_->backend(), static_cast<std::size_t>(blocks) * 4);
    std::vector<std::uint32_t> content(words);
    std::uint32_t want = 0;
    for (std::size_t i = 0; i < words; ++i) want ^= content[i] = random_word(7, 0, i);
    runtime_->backend().copy_in(input.data(), std::as_bytes(std::span(content)));
    runtime_->backend().fill(sums.data(), std::byte{0xff}, sums.bytes());
    read_stream(*runtime_, {.input = {{Dtype::u8, {bytes}}, input.data()},
                            .sums = {{Dtype::i32, {blocks}}, sums.data()},
                            .blocks = blocks});
    runtime_->backend().synchronize();
    std::vector<std::uint32_t> parts(static_cast<std::size_t>(blocks));
    runtime_->backend().copy_out(std::as_writable_bytes(std::span(parts)), sums.data());
    std::uint32_t got = 0;
    for (const std::uint32_t part : parts) got ^= part;
    EXPECT_EQ(got, want) << bytes << " bytes, " << blocks << " blocks";
  }

  TemporaryFolder folder_;
  std::unique_ptr<Runtime> runtime_;
};

TEST_F(ReadStreamTest, EveryWordIsReadOnceAtAnySizeAndGrid) {
  for (const std::int64_t bytes : {0, 16, 2032, 2048, 2064, 16384, 16400, 100000, 1 << 18})
    for (const std::int64_t blocks : {1, 3, 16}) expect_xor(bytes, blocks);
}

TEST_F(ReadStreamTest, RefusesWhatItWouldNotReadWhole) {
  DeviceBuffer memory(runtime_->backend(), 4096);
  const DeviceTensor input{{Dtype::u8, {1024}}, memory.data()};
  const DeviceTensor sums{{Dtype::i32, {2}}, static_cast<std::byte*>(memory.data()) + 2048};
  EXPECT_NO_THROW(read_stream(*runtime_, {input, sums, 2}));
  EXPECT_THROW(read_stream(*runtime_, {input, sums, 3}), UsageError);
  EXPECT_THROW(read_stream(*runtime_, {input, sums, 0}), UsageError);
  EXPECT_THROW(read_stream(*runtime_, {{{Dtype::u8, {1000}}, memory.data()}, sums, 2}), UsageError);
  EXPECT_THROW(read_stream(*runtime_, {{{Dtype::f32, {256}}, memory.data()}, sums, 2}), UsageError);
  auto* const odd = static_cast<std::byte*>(memory.data()) + 8;
  EXPECT_THROW(read_stream(*runtime_, {{{Dtype::u8, {1024}}, odd}, sums, 2}), UsageError);
}

}  // namespace
}  // namespace parity
