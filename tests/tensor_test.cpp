// Tensors: sizes, row-major elements, and refusals.
#include "datasets/tensor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "datasets/errors.hpp"

namespace parity {
namespace {

TEST(TensorTest, TypesCountElementsAndBytes) {
  const TensorType type{Dtype::f16, {3, 8, 64}};
  EXPECT_EQ(type.elements(), 3 * 8 * 64);
  EXPECT_EQ(type.bytes(), 3u * 8 * 64 * 2);
  EXPECT_EQ(type.to_string(), "f16[3,8,64]");
}

TEST(TensorTest, RankZeroIsOneElementAndAnyExtentMayBeZero) {
  EXPECT_EQ((TensorType{Dtype::f32, {}}).elements(), 1);
  EXPECT_EQ((TensorType{Dtype::f32, {}}).to_string(), "f32[]");
  EXPECT_EQ((TensorType{Dtype::f32, {4, 0, 2}}).elements(), 0);
  EXPECT_TRUE(Tensor(Dtype::f32, {4, 0, 2}).bytes().empty());
}

TEST(TensorTest, ImpossibleShapesAreRefused) {
  EXPECT_THROW(Tensor(Dtype::f32, {2, -1}), UsageError);
  EXPECT_THROW(Tensor(Dtype::f32, {0, -1}), UsageError);
  EXPECT_THROW(Tensor(Dtype::u8, {std::int64_t{1} << 40, std::int64_t{1} << 40}), UsageError);
}

TEST(TensorTest, ANewTensorIsAllZeroBytes) {
  const Tensor tensor(Dtype::bf16, {5, 7});
  EXPECT_EQ(tensor.bytes().size(), 70u);
  for (const std::byte byte : tensor.bytes()) EXPECT_EQ(byte, std::byte{0});
}

TEST(TensorTest, ElementsLieInOrderAndAreRoundedToTheDtype) {
  Tensor tensor(Dtype::bf16, {2, 2});
  tensor.set(1, 1.0);
  tensor.set(2, 1.00390625 + 0x1p-30);
  const std::array<unsigned char, 8> want = {0, 0, 0x80, 0x3f, 0x81, 0x3f, 0, 0};
  EXPECT_EQ(std::memcmp(tensor.bytes().data(), want.data(), want.size()), 0);
  EXPECT_EQ(tensor.at(2), 1.0078125);
  EXPECT_EQ(tensor.at(3), 0.0);
}

TEST(TensorTest, EqualityIsOfBitsAndType) {
  Tensor a(Dtype::f32, {2});
  Tensor b(Dtype::f32, {2});
  EXPECT_EQ(a, b);
  b.set(0, -0.0);
  EXPECT_FALSE(a == b);
  EXPECT_FALSE(a == Tensor(Dtype::i32, {2}));
  EXPECT_FALSE(a == Tensor(Dtype::f32, {1, 2}));
}

TEST(TensorTest, FindNamesWhatExists) {
  TensorList list;
  list.push_back({"q", Tensor(Dtype::f32, {1})});
  list.push_back({"k", Tensor(Dtype::f32, {2})});
  EXPECT_EQ(find(list, "k").elements(), 2);
  try {
    find(list, "v");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "no tensor is called 'v': there are q, k");
  }
}

}  // namespace
}  // namespace parity
