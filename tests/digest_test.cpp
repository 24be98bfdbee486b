// Digests: known answers, and everything that must change them.
#include "datasets/digest.hpp"

#include <gtest/gtest.h>

#include "datasets/errors.hpp"

namespace parity {
namespace {

TEST(DigestTest, KnownAnswers) {
  // From the xxHash project's own tools: xxhsum -H128 and -H3 of an empty file.
  EXPECT_EQ(digest("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(stable_hash(""), 0x2d06800538d394c2u);
}

TEST(DigestTest, ATensorsDigestIsThatOfItsTypeANewlineAndItsBytes) {
  Tensor tensor(Dtype::i32, {2});
  tensor.set(0, 1);
  tensor.set(1, 2);
  const std::string bytes("i32[2]\n\x01\0\0\0\x02\0\0\0", 15);
  EXPECT_EQ(digest(tensor), digest(std::string_view(bytes)));
  EXPECT_EQ(digest(tensor), digest(tensor.type(), tensor.bytes()));
}

TEST(DigestTest, DtypeShapeAndBytesEachChangeIt) {
  const Tensor base(Dtype::f16, {2, 3});
  Tensor other_bytes = base;
  other_bytes.bytes()[11] = std::byte{1};
  EXPECT_NE(digest(base), digest(Tensor(Dtype::bf16, {2, 3})));
  EXPECT_NE(digest(base), digest(Tensor(Dtype::f16, {3, 2})));
  EXPECT_NE(digest(base), digest(Tensor(Dtype::f16, {6})));
  EXPECT_NE(digest(base), digest(other_bytes));
  EXPECT_EQ(digest(base), digest(Tensor(Dtype::f16, {2, 3})));
}

TEST(DigestTest, HexParsesBack) {
  const Digest small{0x1, 0xabcdef};
  EXPECT_EQ(small.hex(), "00000000000000010000000000abcdef");
  EXPECT_EQ(Digest::parse(small.hex()), small);
}

TEST(DigestTest, WhatIsNotADigestIsRefused) {
  const std::string good(32, 'a');
  EXPECT_NO_THROW(Digest::parse(good));
  EXPECT_THROW(Digest::parse(""), DatasetError);
  EXPECT_THROW(Digest::parse(good + "a"), DatasetError);
  EXPECT_THROW(Digest::parse(std::string(31, 'a')), DatasetError);
  EXPECT_THROW(Digest::parse(std::string(31, 'a') + "g"), DatasetError);
  EXPECT_THROW(Digest::parse(std::string(32, 'A')), DatasetError);
  EXPECT_THROW(Digest::parse(std::string(16, 'a') + "-" + std::string(15, 'a')), DatasetError);
}

}  // namespace
}  // namespace parity
